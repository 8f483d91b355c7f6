-- The label that a filter gives, and of what filters labelled which one did; no filter for what a person labelled.
ALTER TABLE filters ADD COLUMN label INTEGER REFERENCES labels (id);
ALTER TABLE labelled ADD COLUMN filter INTEGER;

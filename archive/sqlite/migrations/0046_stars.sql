-- Whether the owner's stars of a feed are told to neighbors who tell theirs, and the latest of them.
ALTER TABLE feeds ADD COLUMN stars INTEGER NOT NULL DEFAULT 0;
CREATE INDEX marks_starred_of_feed ON marks (person, feed, item) WHERE starred;

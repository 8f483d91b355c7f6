-- How far the node has come that fills in what a feed published before it was followed.
ALTER TABLE feeds ADD COLUMN past_stage  TEXT    NOT NULL DEFAULT ''; -- what is to be done next
ALTER TABLE feeds ADD COLUMN past_since  INTEGER;                     -- milliseconds; what came out before is not wanted
ALTER TABLE feeds ADD COLUMN past_page   TEXT    NOT NULL DEFAULT ''; -- the publisher's document to read next
ALTER TABLE feeds ADD COLUMN past_steps  INTEGER NOT NULL DEFAULT 0;  -- that were made at this stage
ALTER TABLE feeds ADD COLUMN past_back   INTEGER;                     -- milliseconds; what came out since is done, in this stage
ALTER TABLE feeds ADD COLUMN past_filled INTEGER NOT NULL DEFAULT 0;  -- entries that were stored

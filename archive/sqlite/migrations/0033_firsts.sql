-- How many entries of a feed own polls and neighbors have brought first since it is followed, but for the backlog of its first
-- poll. Those of before were not counted.
ALTER TABLE feeds ADD COLUMN own_firsts   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feeds ADD COLUMN their_firsts INTEGER NOT NULL DEFAULT 0;

-- What the node did is compared with what it would have done without neighbors, no more with a reader that downloads
-- whole documents by the hour.
ALTER TABLE hours DROP COLUMN followed;
ALTER TABLE hours DROP COLUMN followed_bytes;
ALTER TABLE hours ADD COLUMN spared REAL NOT NULL DEFAULT 0; -- polls that what neighbors bring made needless
ALTER TABLE feeds DROP COLUMN size;

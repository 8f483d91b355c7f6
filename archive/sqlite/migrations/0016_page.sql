-- The web page that named a feed, '' where the owner did; and the feeds that a web page names that is in place of one,
-- as JSON, '' where there is none.
ALTER TABLE feeds ADD COLUMN page  TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN names TEXT NOT NULL DEFAULT '';

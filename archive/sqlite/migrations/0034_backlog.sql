-- How many of the entries that there are when one begins to follow a feed are unread to its owner (archive.Backlog).
ALTER TABLE feeds ADD COLUMN backlog INTEGER NOT NULL DEFAULT 0;

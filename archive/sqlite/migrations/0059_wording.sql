-- The same for entries of the same title and the same beginning of their text, NULL where they lack one of them. A story
-- is now known by the link of an entry or by this.
ALTER TABLE messages ADD COLUMN wording BLOB;
CREATE INDEX messages_of_wording ON messages (receiver, wording, feed) WHERE wording IS NOT NULL;

-- The pictures of feeds: where their publishers have them, what the node fetched of that, and when it looks again, in seconds.
CREATE TABLE icons (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	word    TEXT NOT NULL UNIQUE, -- drawn by chance: who knows it may see the picture
	digest  BLOB NOT NULL UNIQUE, -- SHA-256 of the content
	content BLOB NOT NULL
) STRICT;
ALTER TABLE feeds ADD COLUMN icon      TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN icon_id   INTEGER REFERENCES icons (id);
ALTER TABLE feeds ADD COLUMN icon_next INTEGER NOT NULL DEFAULT 0;
CREATE INDEX feeds_by_icon ON feeds (icon_id) WHERE icon_id IS NOT NULL;

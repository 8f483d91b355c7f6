-- The entries that arrived for the owner: those of the feeds that they follow. An id is what readers know an item by; it
-- grows in the order of arrival and is not used twice.
CREATE TABLE items (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	seq     INTEGER NOT NULL UNIQUE REFERENCES entries (seq) ON DELETE CASCADE,
	feed    INTEGER NOT NULL,           -- that of the entry
	arrived INTEGER NOT NULL,
	listed  INTEGER NOT NULL,           -- it came as news, or was marked unread
	read    INTEGER NOT NULL,           -- what is not read is listed
	starred INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX items_by_feed ON items (feed, read, id);
CREATE INDEX items_unread ON items (id, feed) WHERE NOT read;
CREATE INDEX items_starred ON items (id, feed) WHERE starred;

-- What is there is read, but for what came within the last day.
INSERT INTO items (seq, feed, arrived, listed, read)
	SELECT e.seq, e.feed, e.seen, e.seq > 0, e.seq < 0 OR e.seen < unixepoch() - 86400
	FROM entries e JOIN feeds f ON f.id = e.feed WHERE f.subscribed ORDER BY e.seq;

-- The owner's own title for a feed, '' for the publisher's.
ALTER TABLE feeds ADD COLUMN name TEXT NOT NULL DEFAULT '';

CREATE TABLE folders (
	id   INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT    NOT NULL UNIQUE
) STRICT;

-- Which feeds are in which folders.
CREATE TABLE filed (
	feed   INTEGER NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
	folder INTEGER NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
	PRIMARY KEY (feed, folder)
) STRICT, WITHOUT ROWID;
CREATE INDEX filed_by_folder ON filed (folder);

-- The passwords by which the owner's programs come in, hashed by SHA-256.
CREATE TABLE passwords (
	name    TEXT    PRIMARY KEY,
	hash    BLOB    NOT NULL UNIQUE,
	fever   BLOB    NOT NULL UNIQUE, -- of the key that the Fever API makes of it
	created INTEGER NOT NULL,
	used    INTEGER                  -- to the hour
) STRICT;

-- Who reads here. The first is the owner, and stays.
CREATE TABLE people (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	name    TEXT    NOT NULL UNIQUE,
	created INTEGER
) STRICT;
INSERT INTO people VALUES (1, 'owner', NULL);

-- Folders are a person's. Their numbers go on.
ALTER TABLE filed RENAME TO filed_before;
ALTER TABLE folders RENAME TO folders_before;
CREATE TABLE folders (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	person INTEGER NOT NULL REFERENCES people (id),
	name   TEXT    NOT NULL,
	UNIQUE (person, name)
) STRICT;
CREATE TABLE filed (
	feed   INTEGER NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
	folder INTEGER NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
	PRIMARY KEY (feed, folder)
) STRICT, WITHOUT ROWID;
INSERT INTO sqlite_sequence SELECT 'folders', seq FROM sqlite_sequence WHERE name = 'folders_before';
INSERT INTO folders SELECT id, 1, name FROM folders_before ORDER BY id;
INSERT INTO filed SELECT feed, folder FROM filed_before ORDER BY feed, folder;
DROP TABLE filed_before;
DROP TABLE folders_before;
CREATE INDEX filed_by_folder ON filed (folder);

-- What a person has to say of items, and what came as news to them. Of which there is no row, that is read, not listed
-- and not starred. They go with the items (items_marks).
CREATE TABLE marks (
	person  INTEGER NOT NULL REFERENCES people (id),
	item    INTEGER NOT NULL,
	feed    INTEGER NOT NULL,           -- that of the item
	arrived INTEGER NOT NULL,           -- when that did
	listed  INTEGER NOT NULL,           -- it came as news, or was marked unread
	read    INTEGER NOT NULL,           -- what is not read is listed
	starred INTEGER NOT NULL DEFAULT 0,
	marked  INTEGER,                    -- when it was last marked, NULL for never
	PRIMARY KEY (person, item)
) STRICT, WITHOUT ROWID;
INSERT INTO marks SELECT 1, id, feed, arrived, listed, read, starred, marked FROM items
	WHERE listed OR starred OR marked IS NOT NULL ORDER BY id;

-- Items are the same to all. Their numbers go on.
CREATE TABLE items_of_all (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	seq     INTEGER NOT NULL UNIQUE REFERENCES entries (seq) ON DELETE CASCADE,
	feed    INTEGER NOT NULL, -- that of the entry
	arrived INTEGER NOT NULL
) STRICT;
INSERT INTO sqlite_sequence SELECT 'items_of_all', seq FROM sqlite_sequence WHERE name = 'items';
INSERT INTO items_of_all SELECT id, seq, feed, arrived FROM items ORDER BY id;
DROP TABLE items;
ALTER TABLE items_of_all RENAME TO items;
CREATE INDEX marks_by_feed ON marks (person, feed, read, item);
CREATE INDEX marks_unread ON marks (person, item, feed, read) WHERE NOT read;
CREATE INDEX marks_starred ON marks (person, item, feed, starred) WHERE starred;
CREATE INDEX items_by_feed ON items (feed, id);
CREATE TRIGGER items_marks AFTER DELETE ON items BEGIN
	DELETE FROM marks WHERE person IN (SELECT id FROM people) AND item = old.id;
END;

-- A person's own title for a feed.
CREATE TABLE titles (
	feed   INTEGER NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
	person INTEGER NOT NULL REFERENCES people (id),
	name   TEXT    NOT NULL,
	PRIMARY KEY (feed, person)
) STRICT, WITHOUT ROWID;
INSERT INTO titles SELECT id, 1, name FROM feeds WHERE name <> '' ORDER BY id;
ALTER TABLE feeds DROP COLUMN name;

-- The feeds that a person does not read, of those that the node follows.
CREATE TABLE left_out (
	feed   INTEGER NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
	person INTEGER NOT NULL REFERENCES people (id),
	PRIMARY KEY (feed, person)
) STRICT, WITHOUT ROWID;

-- Who comes in by a password. The owner alone has passwords that open the dashboard.
ALTER TABLE passwords ADD COLUMN person INTEGER NOT NULL DEFAULT 1 CHECK (person = 1 OR scope = 'reader');

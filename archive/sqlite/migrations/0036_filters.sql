-- Searches that people keep. One that is gone stays until what it caught is swept away.
CREATE TABLE filters (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	person  INTEGER NOT NULL,
	name    TEXT    NOT NULL,
	words   TEXT    NOT NULL,           -- in the query language
	folder  INTEGER REFERENCES folders (id) ON DELETE SET NULL,
	rule    TEXT    NOT NULL,           -- what follows from what it catches
	place   INTEGER NOT NULL,           -- in the order of the person's filters
	key     BLOB    NOT NULL UNIQUE,    -- by which its feed is had
	created INTEGER NOT NULL,
	behind  INTEGER NOT NULL DEFAULT 1, -- the past was not gone through for it yet
	gone    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX filters_by_name ON filters (person, name) WHERE NOT gone;
CREATE INDEX filters_by_folder ON filters (folder);

-- The items that filters caught.
CREATE TABLE caught (
	filter INTEGER NOT NULL,
	item   INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
	at     INTEGER NOT NULL,
	did    TEXT    NOT NULL DEFAULT '', -- what the rule did
	acted  INTEGER,                     -- when
	PRIMARY KEY (filter, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX caught_by_item ON caught (item);
CREATE INDEX caught_acted ON caught (filter, item) WHERE did <> '';

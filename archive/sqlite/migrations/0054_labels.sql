-- The names that people give to entries.
CREATE TABLE labels (
	id     INTEGER PRIMARY KEY AUTOINCREMENT,
	person INTEGER NOT NULL REFERENCES people (id),
	name   TEXT    NOT NULL,
	UNIQUE (person, name)
) STRICT;

-- The items that have labels.
CREATE TABLE labelled (
	label INTEGER NOT NULL REFERENCES labels (id),
	item  INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
	PRIMARY KEY (label, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX labelled_by_item ON labelled (item);

-- The feeds of whose entries a person is shown the pictures without being asked.
CREATE TABLE pictured (
	feed   INTEGER NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
	person INTEGER NOT NULL REFERENCES people (id),
	PRIMARY KEY (feed, person)
) STRICT, WITHOUT ROWID;

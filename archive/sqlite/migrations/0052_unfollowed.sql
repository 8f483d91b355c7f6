-- The feeds that a program of a person unfollowed, by the name of its password, until they are followed again.
CREATE TABLE unfollowed (
	feed   INTEGER NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
	person INTEGER NOT NULL REFERENCES people (id),
	by     TEXT    NOT NULL,
	at     INTEGER NOT NULL,
	PRIMARY KEY (feed, person)
) STRICT, WITHOUT ROWID;

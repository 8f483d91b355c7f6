-- Feeds that the owner does not want to be suggested.
CREATE TABLE declined (
	id  INTEGER PRIMARY KEY AUTOINCREMENT,
	url TEXT    NOT NULL UNIQUE
) STRICT;

-- Where people are told of what their filters catch.
CREATE TABLE receivers (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	person     INTEGER NOT NULL REFERENCES people (id),
	name       TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	address    TEXT    NOT NULL,
	secret     TEXT    NOT NULL,
	server     TEXT    NOT NULL,
	local      INTEGER NOT NULL,           -- it may be in the private network
	some       INTEGER NOT NULL,           -- it is told of the filters in receiver_filters alone
	quiet_from INTEGER NOT NULL,           -- minutes since midnight
	quiet_to   INTEGER NOT NULL,
	digest     TEXT,                       -- a list of them in JSON, NULL for none
	most       INTEGER NOT NULL,           -- messages an hour
	created    INTEGER NOT NULL,
	failures   INTEGER NOT NULL DEFAULT 0, -- in a row
	problem    TEXT    NOT NULL DEFAULT '',
	next       INTEGER,                    -- not before then
	ended      INTEGER NOT NULL DEFAULT 0,
	beyond     INTEGER NOT NULL DEFAULT 0, -- how many entries came for which there was no room
	UNIQUE (person, name)
) STRICT;

-- Of which filters a receiver is told, by their keys, which stay when a filter gets other words.
CREATE TABLE receiver_filters (
	receiver INTEGER NOT NULL REFERENCES receivers (id) ON DELETE CASCADE,
	key      BLOB    NOT NULL,
	PRIMARY KEY (receiver, key)
) STRICT, WITHOUT ROWID;

-- What receivers are to be told, and for a while what they were: of one story once.
CREATE TABLE messages (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	receiver INTEGER NOT NULL REFERENCES receivers (id) ON DELETE CASCADE,
	story    BLOB    NOT NULL, -- the same for entries that tell the same
	filter   TEXT    NOT NULL, -- its name then
	item     INTEGER NOT NULL,
	feed     INTEGER NOT NULL, -- that of the item
	arrived  INTEGER NOT NULL,
	told     INTEGER,          -- NULL for not yet
	UNIQUE (receiver, item)
) STRICT;
CREATE INDEX messages_of_story ON messages (receiver, story, feed);
CREATE INDEX messages_waiting ON messages (receiver, id) WHERE told IS NULL;
CREATE INDEX messages_told ON messages (receiver, told) WHERE told IS NOT NULL;
CREATE INDEX messages_by_item ON messages (item);
CREATE TRIGGER items_messages AFTER DELETE ON items BEGIN
	DELETE FROM messages WHERE item = old.id AND told IS NULL;
END;

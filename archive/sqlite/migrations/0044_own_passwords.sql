-- Everybody may have a password that opens more than what is read: to others than the owner the passwords of their
-- readers.
CREATE TABLE passwords_of_all (
	name    TEXT    PRIMARY KEY,
	person  INTEGER NOT NULL DEFAULT 1, -- who comes in by it
	scope   TEXT    NOT NULL CHECK (scope IN ('reader', 'owner')),
	hash    BLOB    NOT NULL UNIQUE,
	fever   BLOB    NOT NULL UNIQUE, -- of the key that the Fever API makes of it
	created INTEGER NOT NULL,
	used    INTEGER,                 -- to the hour
	epoch   INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO passwords_of_all (name, person, scope, hash, fever, created, used, epoch)
	SELECT name, person, scope, hash, fever, created, used, epoch FROM passwords;
DROP TABLE passwords;
ALTER TABLE passwords_of_all RENAME TO passwords;

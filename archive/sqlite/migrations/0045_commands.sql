-- Commands by message: where they are heard, by which word, up to which message, and until when nobody is told anything.
ALTER TABLE receivers ADD COLUMN commands TEXT NOT NULL DEFAULT '';
ALTER TABLE receivers ADD COLUMN word BLOB;
ALTER TABLE receivers ADD COLUMN heard TEXT NOT NULL DEFAULT '';
ALTER TABLE receivers ADD COLUMN deaf TEXT NOT NULL DEFAULT '';
ALTER TABLE receivers ADD COLUMN muted INTEGER;

-- The commands of the last day, so that none is done twice, and what is answered to them.
CREATE TABLE commands (
	id       INTEGER PRIMARY KEY,
	receiver INTEGER NOT NULL REFERENCES receivers (id) ON DELETE CASCADE,
	message  TEXT    NOT NULL,
	sent     INTEGER NOT NULL,
	answer   TEXT    NOT NULL, -- '' once it was taken
	UNIQUE (receiver, message)
) STRICT;

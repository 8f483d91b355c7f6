-- Entries that were here and are not to come back (archive.Entries.Purge).
CREATE TABLE purged (
	id   BLOB    PRIMARY KEY,
	feed INTEGER NOT NULL,
	seen INTEGER NOT NULL, -- when the entry came
	at   INTEGER NOT NULL  -- when it was purged
) STRICT, WITHOUT ROWID;

-- What is kept of a feed at most, 0 for no bound of its own.
ALTER TABLE feeds ADD COLUMN keep_bytes INTEGER NOT NULL DEFAULT 0; -- of texts
ALTER TABLE feeds ADD COLUMN keep_age   INTEGER NOT NULL DEFAULT 0; -- seconds
ALTER TABLE feeds ADD COLUMN keep_count INTEGER NOT NULL DEFAULT 0; -- entries

-- The last time that entries were purged: when that began, how many there were, and the bytes of their texts.
ALTER TABLE state ADD COLUMN purge_at      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE state ADD COLUMN purge_entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE state ADD COLUMN purge_bytes   INTEGER NOT NULL DEFAULT 0;

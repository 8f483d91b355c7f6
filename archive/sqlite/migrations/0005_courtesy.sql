-- What is owed to the publisher of a feed, and to the hosts that serve several. Durations are nanoseconds.
ALTER TABLE feeds ADD COLUMN withheld    INTEGER NOT NULL DEFAULT 0;  -- the owner keeps it to themselves
ALTER TABLE feeds ADD COLUMN ended       INTEGER NOT NULL DEFAULT 0;  -- the publisher says that it is gone for good
ALTER TABLE feeds ADD COLUMN alias       TEXT    NOT NULL DEFAULT ''; -- where it is asked for, '' for its URL
ALTER TABLE feeds ADD COLUMN moved       TEXT    NOT NULL DEFAULT ''; -- where it may have moved to
ALTER TABLE feeds ADD COLUMN moved_seen  INTEGER NOT NULL DEFAULT 0;  -- so many polls in a row were sent there
ALTER TABLE feeds ADD COLUMN moved_since INTEGER;                     -- milliseconds, of the first of them
ALTER TABLE feeds ADD COLUMN body        BLOB;                        -- SHA-1 of the last document
ALTER TABLE feeds ADD COLUMN unread      INTEGER NOT NULL DEFAULT 0;  -- that document could not be used
ALTER TABLE feeds ADD COLUMN whole       INTEGER;                     -- milliseconds, of the last unconditional request
ALTER TABLE feeds ADD COLUMN lifetime    INTEGER NOT NULL DEFAULT 0;  -- how long an answer is fresh
ALTER TABLE feeds ADD COLUMN not_before  INTEGER;                     -- milliseconds, of the next request at the earliest
ALTER TABLE feeds ADD COLUMN pace        INTEGER NOT NULL DEFAULT 0;  -- how long a document stays as it is
ALTER TABLE feeds ADD COLUMN skip_hours  INTEGER NOT NULL DEFAULT 0;  -- a bit for each hour of the day, UTC
ALTER TABLE feeds ADD COLUMN skip_days   INTEGER NOT NULL DEFAULT 0;  -- a bit for each day of the week, from Sunday

-- Hosts that take fewer requests than one that is not known.
CREATE TABLE hosts (
	name      TEXT PRIMARY KEY,
	gap       INTEGER NOT NULL,
	rest      INTEGER NOT NULL,
	until     INTEGER,          -- milliseconds
	spent     INTEGER,          -- milliseconds
	forbids   INTEGER NOT NULL
) STRICT;

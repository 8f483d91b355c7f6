-- Filters that are standing queries, for which neighbors are asked.
ALTER TABLE filters ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE filters ADD COLUMN asked INTEGER;                     -- when that was
ALTER TABLE filters ADD COLUMN next INTEGER NOT NULL DEFAULT 0;   -- and is again
ALTER TABLE filters ADD COLUMN trouble TEXT NOT NULL DEFAULT '';  -- what went wrong then
CREATE INDEX filters_standing ON filters (next) WHERE standing AND NOT gone;

-- What they found that is no item, as nobody follows its feed.
CREATE TABLE found (
	filter INTEGER NOT NULL,
	seq    INTEGER NOT NULL REFERENCES entries (seq) ON DELETE CASCADE,
	at     INTEGER NOT NULL,
	PRIMARY KEY (filter, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX found_by_seq ON found (seq);
CREATE INDEX found_by_time ON found (filter, at);

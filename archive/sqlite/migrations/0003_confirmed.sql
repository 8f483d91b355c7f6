-- Whether somebody else has shown what a neighbor brought; what an own poll brought needs nobody. What
-- was confirmed before there was this column is not known any more.
ALTER TABLE entries ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;

-- A date more than an hour after the arrival counts as none. The indices hold the time and follow it.
DROP INDEX entries_by_seq;
DROP INDEX entries_by_feed;
ALTER TABLE entries DROP COLUMN time;
ALTER TABLE entries ADD COLUMN time INTEGER NOT NULL AS (CASE
	WHEN published <= seen + 3600 THEN published
	WHEN updated <= seen + 3600 THEN updated
	ELSE seen END) VIRTUAL;
CREATE INDEX entries_by_seq ON entries (seq, feed, time);
CREATE INDEX entries_by_feed ON entries (feed, seq, time);

-- The entries of a feed in blocks, for archive documents (RFC 5005): in the order in which the node came to have them,
-- whether they arrived or were filled in. A block has the seqs from behind the high of the one before to its own, and
-- from below the low of the one before to its own. It takes a hundred, and never another once it is full.
CREATE TABLE pages (
	feed INTEGER NOT NULL REFERENCES feeds (id),
	n    INTEGER NOT NULL, -- from 1
	high INTEGER NOT NULL, -- the highest seq of the feed when the block's last entry came, 0 for none above it
	low  INTEGER NOT NULL, -- the lowest, likewise
	size INTEGER NOT NULL, -- how many came
	PRIMARY KEY (feed, n)
) STRICT, WITHOUT ROWID;

-- What there is was filled in first, as far as anyone knows.
INSERT INTO pages
	SELECT feed, n, max(high) OVER upto, min(low) OVER upto, size FROM (
		SELECT feed, (place - 1) / 100 + 1 AS n, max(max(seq), 0) AS high, min(min(seq), 0) AS low, count(*) AS size FROM (
			SELECT feed, seq, row_number() OVER (PARTITION BY feed ORDER BY seq > 0, abs(seq)) AS place
			FROM entries INDEXED BY entries_by_feed)
		GROUP BY 1, 2)
	WINDOW upto AS (PARTITION BY feed ORDER BY n);

-- The lowest seq so far: none is used twice.
ALTER TABLE state ADD COLUMN lowest INTEGER NOT NULL DEFAULT 0;
UPDATE state SET lowest = (SELECT min(coalesce(min(seq), 0), 0) FROM entries);

-- Which change of its feed (feeds.replaced) the last one of the entry was, NULL for none.
ALTER TABLE entries ADD COLUMN changed INTEGER;
CREATE INDEX entries_by_change ON entries (feed, changed, seq) WHERE changed IS NOT NULL;

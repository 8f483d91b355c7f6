-- When feeds are polled, beside what is due: how their owner wants it, what the last document had, and what was
-- missed.
ALTER TABLE feeds ADD COLUMN policy      TEXT    NOT NULL DEFAULT ''; -- '' for the node's own
ALTER TABLE feeds ADD COLUMN helped      REAL    NOT NULL DEFAULT 0;  -- share of the entries that neighbors bring first
ALTER TABLE feeds ADD COLUMN listed      INTEGER NOT NULL DEFAULT 0;  -- entries in the last document
ALTER TABLE feeds ADD COLUMN gap_after   INTEGER;                     -- milliseconds; entries in between were missed
ALTER TABLE feeds ADD COLUMN gap_before  INTEGER;                     -- milliseconds
ALTER TABLE feeds ADD COLUMN gap_missing INTEGER NOT NULL DEFAULT 0;  -- about how many
ALTER TABLE feeds ADD COLUMN gap_filled  INTEGER NOT NULL DEFAULT 0;  -- how many came since

-- The latest own requests to publishers, as package fetch/grade judges them.
CREATE TABLE requests (
	n                 INTEGER PRIMARY KEY,
	at                INTEGER NOT NULL, -- milliseconds
	feed              TEXT    NOT NULL, -- '' where it is the url
	url               TEXT    NOT NULL,
	first             INTEGER NOT NULL, -- the first ever for the feed
	private           INTEGER NOT NULL, -- a Retry-After counts for the url alone
	if_none_match     TEXT    NOT NULL,
	if_modified_since TEXT    NOT NULL,
	status            INTEGER NOT NULL, -- 0 for no answer
	etag              TEXT    NOT NULL,
	last_modified     TEXT    NOT NULL,
	fresh             INTEGER NOT NULL, -- milliseconds
	retry_after       INTEGER NOT NULL  -- milliseconds
) STRICT;

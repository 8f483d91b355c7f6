-- What the node did, hour by hour, for its owner. It is counted as it happens, so that a page need not count
-- entries. Nothing is known of the time before there was this table.
CREATE TABLE hours (
	hour           INTEGER PRIMARY KEY,         -- since 1970, UTC
	polled         INTEGER NOT NULL DEFAULT 0,  -- entries that own polls brought first
	brought        INTEGER NOT NULL DEFAULT 0,  -- entries that neighbors brought first
	compared       INTEGER NOT NULL DEFAULT 0,  -- of those that neighbors brought ever, an own poll listed now
	ahead          INTEGER NOT NULL DEFAULT 0,  -- by so many seconds neighbors were earlier, for all compared
	requests       INTEGER NOT NULL DEFAULT 0,  -- own ones to publishers
	unchanged      INTEGER NOT NULL DEFAULT 0,  -- of these, answered "not modified"
	failed         INTEGER NOT NULL DEFAULT 0,  -- of these, refused or not answered
	bytes          INTEGER NOT NULL DEFAULT 0,  -- of the bodies of all answers, as they were sent
	followed       INTEGER NOT NULL DEFAULT 0,  -- minutes for which feeds were followed, over all feeds
	followed_bytes INTEGER NOT NULL DEFAULT 0   -- of documents, had each been sent once for each hour of these
) STRICT;

-- When an own poll first listed what a neighbor had brought: Unix seconds, 0 where that was before there was this
-- column, NULL where none did yet.
ALTER TABLE entries ADD COLUMN polled INTEGER DEFAULT 0;

ALTER TABLE feeds    ADD COLUMN size  INTEGER NOT NULL DEFAULT 0; -- bytes of the last whole document, as it was sent
ALTER TABLE requests ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of the answer's body, as it was sent
CREATE INDEX requests_by_feed ON requests (iif(feed = '', url, feed), at);

-- Digests and dids are 20-byte blobs. Times are Unix seconds where a comment does not say otherwise,
-- NULL where there is none.

-- Every feed of which an entry or a setting is kept.
CREATE TABLE feeds (
	id            INTEGER PRIMARY KEY,
	url           TEXT    NOT NULL UNIQUE,
	secret        INTEGER NOT NULL,            -- the URL lets its bearer in: never served to others
	kept          INTEGER NOT NULL DEFAULT 0,  -- 0 where only entries made the row
	title         TEXT    NOT NULL DEFAULT '',
	link          TEXT    NOT NULL DEFAULT '',
	subscribed    INTEGER NOT NULL DEFAULT 0,
	private       INTEGER NOT NULL DEFAULT 0,
	since         INTEGER,                     -- milliseconds
	etag          TEXT    NOT NULL DEFAULT '',
	last_modified TEXT    NOT NULL DEFAULT '',
	poll_interval INTEGER NOT NULL DEFAULT 0,  -- nanoseconds
	next_poll     INTEGER,                     -- milliseconds
	last_poll     INTEGER,                     -- milliseconds
	last_success  INTEGER,                     -- milliseconds
	errors        INTEGER NOT NULL DEFAULT 0,
	last_error    TEXT    NOT NULL DEFAULT '',
	replaced      INTEGER NOT NULL DEFAULT 0,  -- how many entries were replaced so far
	replaced_at   INTEGER                      -- when the last of them was
) STRICT;

CREATE TABLE entries (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	id         BLOB    NOT NULL UNIQUE,
	digest     BLOB    NOT NULL,
	feed       INTEGER NOT NULL REFERENCES feeds (id),
	published  INTEGER,
	updated    INTEGER,
	seen       INTEGER NOT NULL,
	time       INTEGER NOT NULL AS (coalesce(published, updated, seen)) VIRTUAL,
	source     TEXT    NOT NULL, -- the neighbor that brought it, '' for an own poll
	guid       TEXT    NOT NULL,
	title      TEXT    NOT NULL,
	link       TEXT    NOT NULL,
	authors    TEXT,             -- JSON array of strings, NULL for none
	categories TEXT,             -- likewise
	enclosures TEXT,             -- JSON array of {url, type, length}, NULL for none
	summary    TEXT    NOT NULL,
	content    TEXT    NOT NULL
) STRICT;

-- What filters other than words ask for, so that a walk through the entries reads no texts.
CREATE INDEX entries_by_seq ON entries (seq, feed, time);
CREATE INDEX entries_by_feed ON entries (feed, seq, time);

-- The words of the entries up to state.indexed, but for those in stale. archive.Fold has made them:
-- lower case without diacritics, blanks between. So the tokenizer has nothing to do but split at
-- blanks. feed holds the feed's number as a word, so that "this word in that feed" is one question.
-- The shortest prefixes are indexed as well: a stranger may ask for "a*", and to merge the lists of
-- all those words would take long and heed no deadline.
CREATE VIRTUAL TABLE words USING fts5 (
	feed, title, rest,
	content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1 2'
);

CREATE TABLE state (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	indexed INTEGER NOT NULL -- the highest seq that was brought into words
) STRICT;
INSERT INTO state VALUES (1, 0);

-- Entries that were replaced after they had been indexed.
CREATE TABLE stale (seq INTEGER PRIMARY KEY) STRICT;

-- The bundles stored of late, numbered without a gap.
CREATE TABLE dids (
	n   INTEGER PRIMARY KEY,
	did BLOB NOT NULL UNIQUE
) STRICT;

CREATE TABLE peers (
	id        TEXT    PRIMARY KEY, -- "ip:port"
	first_met INTEGER,             -- milliseconds
	last_met  INTEGER,             -- milliseconds
	together  INTEGER NOT NULL,    -- nanoseconds
	failures  INTEGER NOT NULL
) STRICT;

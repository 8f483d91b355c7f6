-- Whom the node pushes its feeds to (WebSub).
CREATE TABLE hub (
	callback TEXT    NOT NULL,
	topic    TEXT    NOT NULL, -- the document, at the reader address
	secret   TEXT    NOT NULL, -- '' for none
	expires  INTEGER NOT NULL, -- milliseconds
	etag     TEXT    NOT NULL, -- of what the subscriber has
	failures INTEGER NOT NULL, -- in a row
	next     INTEGER,          -- milliseconds, of the next try after one
	PRIMARY KEY (callback, topic)
) STRICT, WITHOUT ROWID;

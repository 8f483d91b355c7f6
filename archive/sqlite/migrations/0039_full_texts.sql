-- The full text of items, as their pages have it: the node's own, which nobody is given but its people. No entry, digest or
-- index has anything of it.
CREATE TABLE full_texts (
	item    INTEGER PRIMARY KEY REFERENCES items (id) ON DELETE CASCADE,
	at      INTEGER NOT NULL, -- when the page was asked for
	shown   INTEGER NOT NULL, -- in place of the feed's own text
	content TEXT    NOT NULL, -- HTML, '' where there is none
	problem TEXT    NOT NULL  -- why there is none
) STRICT;
CREATE INDEX full_texts_by_time ON full_texts (at);

-- From when on the full text of what a feed publishes is fetched, NULL where it is not.
ALTER TABLE feeds ADD COLUMN full_from INTEGER;

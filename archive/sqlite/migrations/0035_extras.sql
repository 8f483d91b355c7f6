-- What publishers say of an entry beside its text and files, an object; NULL for nothing.
ALTER TABLE entries ADD COLUMN extras TEXT;

-- How many bytes of text an entry holds has these in it.
DROP INDEX entries_unshown;
ALTER TABLE entries DROP COLUMN size;
ALTER TABLE entries ADD COLUMN size INTEGER NOT NULL AS (octet_length(guid) + octet_length(title) + octet_length(link) +
	octet_length(summary) + octet_length(content) + coalesce(octet_length(authors), 0) + coalesce(octet_length(categories), 0) +
	coalesce(octet_length(enclosures), 0) + coalesce(octet_length(rights), 0) + coalesce(octet_length(copied_from), 0) +
	coalesce(octet_length(extras), 0)) VIRTUAL;
CREATE INDEX entries_unshown ON entries (confirmed, seq, feed, source, seen, size) WHERE source <> '' AND polled IS NULL;

-- What the publisher of a feed says of it, and the language that it is in.
ALTER TABLE feeds ADD COLUMN about    TEXT NOT NULL DEFAULT '';
ALTER TABLE feeds ADD COLUMN language TEXT NOT NULL DEFAULT '';

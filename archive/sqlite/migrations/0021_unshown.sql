-- How many bytes of text an entry holds.
ALTER TABLE entries ADD COLUMN size INTEGER NOT NULL AS (octet_length(guid) + octet_length(title) + octet_length(link) +
	octet_length(summary) + octet_length(content) + coalesce(octet_length(authors), 0) + coalesce(octet_length(categories), 0) +
	coalesce(octet_length(enclosures), 0)) VIRTUAL;

-- What neighbors brought and no own poll has shown: there is a bound for it, and it goes first.
CREATE INDEX entries_unshown ON entries (confirmed, seq, feed, source, seen, size) WHERE source <> '' AND polled IS NULL;

-- Whether an own poll had shown what was purged. If not, one may yet, and it comes back.
ALTER TABLE purged ADD COLUMN shown INTEGER NOT NULL DEFAULT 1;

-- How much of a feed own polls have shown.
ALTER TABLE feeds ADD COLUMN daily      INTEGER NOT NULL DEFAULT 0; -- most entries within a day
ALTER TABLE feeds ADD COLUMN entry_size INTEGER NOT NULL DEFAULT 0; -- bytes of text of one of them, on average

-- How many bytes at most the words of purged entries take in the index, until all of it was merged.
ALTER TABLE state ADD COLUMN dead INTEGER NOT NULL DEFAULT 0;

-- Parts of the index are merged by steps of their own, not by whoever writes.
INSERT INTO words (words, rank) VALUES ('automerge', 0);

-- Of feeds that the owner never followed no own poll has shown anything; what came before that was noted did not say so.
UPDATE entries SET polled = NULL WHERE polled = 0 AND source <> '' AND feed IN (SELECT id FROM feeds WHERE NOT subscribed AND since IS NULL);

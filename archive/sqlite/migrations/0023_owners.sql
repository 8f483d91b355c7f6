-- Where an own poll has shown an entry to the owner alone, who follows its feed discreetly, entries.polled is the time of that
-- below zero: to others no own poll has shown it.
CREATE INDEX entries_owners ON entries (seq) WHERE polled < 0;

-- Of what no own poll had shown, what was purged is kept away, and not another version of the entry.
ALTER TABLE purged ADD COLUMN digest BLOB; -- NULL where own polls had shown it, and where it was not written down

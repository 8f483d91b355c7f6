-- What the owner says to what an address looks like, and where a feed leads.
ALTER TABLE feeds ADD COLUMN leads  INTEGER NOT NULL DEFAULT 0; -- to an address that looks like a secret
ALTER TABLE feeds ADD COLUMN shared INTEGER NOT NULL DEFAULT 0; -- others may know of it all the same

-- What neighbors brought of a feed that is followed discreetly, apart from what its owner has of it: the URL has a mark
-- behind it, and the ids of the entries have each bit turned over.
ALTER TABLE feeds ADD COLUMN apart INTEGER NOT NULL DEFAULT 0;
CREATE INDEX feeds_apart ON feeds (id) WHERE apart;

-- Whether nothing of such a feed left the node before.
ALTER TABLE feeds ADD COLUMN barred INTEGER NOT NULL DEFAULT 0;
UPDATE feeds SET barred = private OR withheld WHERE discreet;

-- Feeds that are followed discreetly hide among nothing any more that has to be the same in every run.
ALTER TABLE state DROP COLUMN lasting_secret;

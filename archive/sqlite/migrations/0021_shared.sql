-- What the owner says to what an address looks like, and where a feed leads.
ALTER TABLE feeds ADD COLUMN leads  INTEGER NOT NULL DEFAULT 0; -- to an address that looks like a secret
ALTER TABLE feeds ADD COLUMN shared INTEGER NOT NULL DEFAULT 0; -- others may know of it all the same

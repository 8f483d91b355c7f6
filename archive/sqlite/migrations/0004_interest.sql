-- What the owner says about the interest in a feed, beside whether there is one.
ALTER TABLE feeds ADD COLUMN weight   INTEGER NOT NULL DEFAULT 0; -- of preference, 0 where none was chosen
ALTER TABLE feeds ADD COLUMN discreet INTEGER NOT NULL DEFAULT 0; -- neighbors are not to learn of it
ALTER TABLE feeds ADD COLUMN cover    INTEGER NOT NULL DEFAULT 0; -- advertised to hide the others among

-- Entries that are not served to others: an own poll brought them, of a feed that is followed discreetly, and
-- no neighbor has brought them yet.
CREATE TABLE hidden (seq INTEGER PRIMARY KEY) STRICT;

-- The id that an entry had before its feed was first renamed, NULL where it was not: programs know it by that.
ALTER TABLE entries ADD COLUMN was BLOB;
-- The URL that a feed had before it was renamed, '' where it was not.
ALTER TABLE feeds ADD COLUMN former TEXT NOT NULL DEFAULT '';
CREATE INDEX entries_was ON entries (was) WHERE was IS NOT NULL;

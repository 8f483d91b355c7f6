-- The feeds of which full texts are fetched, which are looked for every few seconds.
CREATE INDEX feeds_full ON feeds (full_from) WHERE full_from IS NOT NULL;

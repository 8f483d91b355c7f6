-- Until when the pages of a feed are left alone: NULL for not at all.
ALTER TABLE feeds ADD COLUMN full_rests INTEGER;

-- The filters whose rule has full texts fetched.
CREATE INDEX filters_full ON filters (id) WHERE rule = 'full' AND NOT gone;

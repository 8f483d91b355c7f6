-- From when on a page that gave trouble is asked for again unasked, NULL for never, and how often it gave trouble.
ALTER TABLE full_texts ADD COLUMN again INTEGER;
ALTER TABLE full_texts ADD COLUMN troubles INTEGER NOT NULL DEFAULT 0;

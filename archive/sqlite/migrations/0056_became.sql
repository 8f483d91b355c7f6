-- The feed that is followed in the place of this address, which led to it, '' for none. Several may have led to one.
ALTER TABLE feeds ADD COLUMN became TEXT NOT NULL DEFAULT '';
UPDATE feeds SET became = t.url FROM feeds t WHERE t.page = feeds.url AND t.page <> '' AND t.subscribed;

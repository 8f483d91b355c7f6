-- Whether a feed leads to an address that looks like a secret, or was named by a page with such an address: what the latter
-- look like is found out once the feed is kept again. Until then a page is taken for secret.
ALTER TABLE feeds ADD COLUMN led INTEGER NOT NULL DEFAULT 0;
UPDATE feeds SET led = leads OR page <> '';

-- Where an entry is confirmed, entries.polled now says that an own poll has shown it as it is: since when, in Unix
-- seconds, 0 where nobody knows, NULL where none did. What own polls brought (source '') needs no such word, unless it was
-- filled in. Of that, it is what is confirmed: the publisher's archive had it, or a poll, for nothing else confirmed it.
UPDATE entries SET polled = 0 WHERE seq < 0 AND confirmed AND polled IS NULL;

-- Neighbors could change what own polls had shown. The next poll of each feed reads the whole document again, and puts that
-- right which it lists.
UPDATE feeds SET etag = '', last_modified = '', body = NULL;

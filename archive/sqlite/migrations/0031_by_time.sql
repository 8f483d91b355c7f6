-- Entries in the order in which they were published: all of them, and those of one feed.
CREATE INDEX entries_by_time ON entries (time, seq, feed);
CREATE INDEX entries_of_feed ON entries (feed, time);

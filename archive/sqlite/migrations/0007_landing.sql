-- Where redirects of a feed lead: that host is asked as well, and no more often than it wants.
ALTER TABLE feeds ADD COLUMN lands TEXT NOT NULL DEFAULT ''; -- a host, '' for the one that is asked

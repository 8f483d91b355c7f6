-- Feeds that the node polls for neighbors who want them, in place of those that it only said to follow; all in milliseconds.
ALTER TABLE feeds DROP COLUMN cover;
ALTER TABLE feeds ADD COLUMN volunteered INTEGER; -- since when it does
ALTER TABLE feeds ADD COLUMN tried       INTEGER; -- when it first asked for it so
ALTER TABLE feeds ADD COLUMN patrons     TEXT NOT NULL DEFAULT ''; -- for whom
ALTER TABLE feeds ADD COLUMN rests       INTEGER; -- until when it does not do so again
ALTER TABLE feeds ADD COLUMN refused     INTEGER; -- when the publisher last refused a poll, or wanted fewer

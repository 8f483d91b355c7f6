-- Whose choice the backlog of a feed is: the number of the person who began to follow it, 0 for the owner.
ALTER TABLE feeds ADD COLUMN backlog_of INTEGER NOT NULL DEFAULT 0;

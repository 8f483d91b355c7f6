-- How often all sessions were ended that a password had begun at the dashboard.
ALTER TABLE passwords ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

-- The address from which a subscription came: its callback is called there and nowhere else. '' where it is not known.
ALTER TABLE hub ADD COLUMN subscriber TEXT NOT NULL DEFAULT '';

-- How often all sessions were ended that a password had begun at the dashboard.
ALTER TABLE passwords ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

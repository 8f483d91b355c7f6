-- What a password opens. Those of before opened everything, and go on to do so.
ALTER TABLE passwords ADD COLUMN scope TEXT NOT NULL DEFAULT 'owner' CHECK (scope IN ('reader', 'owner'));

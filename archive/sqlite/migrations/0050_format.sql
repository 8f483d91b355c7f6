-- What the document of a feed that was read last is written in; '' before one was.
ALTER TABLE feeds ADD COLUMN format TEXT NOT NULL DEFAULT '';

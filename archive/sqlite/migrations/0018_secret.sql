-- What keys choices that neighbors see and that are the same in every run; NULL until a node asks for it.
ALTER TABLE state ADD COLUMN lasting_secret BLOB CHECK (length(lasting_secret) = 32);

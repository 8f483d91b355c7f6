-- When somebody was removed who may come back, NULL for who is there. Their name is theirs no more meanwhile.
ALTER TABLE people ADD COLUMN removed INTEGER;

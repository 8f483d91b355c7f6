-- When an item was last marked, in Unix seconds; NULL where it never was since there is this column.
ALTER TABLE items ADD COLUMN marked INTEGER;

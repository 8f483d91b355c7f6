-- The words of the index, in order, with each place where one stands: to find those with a prefix.
CREATE VIRTUAL TABLE terms USING fts5vocab (words, instance);

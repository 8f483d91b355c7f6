-- The highest number that a feed had, kept where tables that never give out one twice have theirs: readers know feeds by
-- it.
INSERT INTO sqlite_sequence SELECT 'feeds', coalesce(max(id), 0) FROM feeds
	HAVING 'feeds' NOT IN (SELECT name FROM sqlite_sequence); -- where a backup was put in place
CREATE TRIGGER feeds_numbered AFTER INSERT ON feeds BEGIN
	UPDATE sqlite_sequence SET seq = max(seq, new.id) WHERE name = 'feeds';
END;

-- How many items of a feed are unread to a person. The triggers below keep it, so that pages need not count them.
CREATE TABLE unread (
	person INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
	feed   INTEGER NOT NULL REFERENCES feeds (id) ON DELETE CASCADE,
	items  INTEGER NOT NULL CHECK (items >= 0),
	PRIMARY KEY (person, feed)
) STRICT, WITHOUT ROWID;
CREATE INDEX unread_by_feed ON unread (feed);
INSERT INTO unread SELECT person, feed, count(*) FROM marks
	WHERE NOT read AND person IN (SELECT id FROM people) AND feed IN (SELECT id FROM feeds) GROUP BY person, feed;
CREATE TRIGGER marks_more AFTER INSERT ON marks WHEN NOT new.read BEGIN
	INSERT INTO unread VALUES (new.person, new.feed, 1) ON CONFLICT DO UPDATE SET items = items + 1;
END;
CREATE TRIGGER marks_fewer AFTER DELETE ON marks WHEN NOT old.read BEGIN
	UPDATE unread SET items = items - 1 WHERE person = old.person AND feed = old.feed;
END;
CREATE TRIGGER marks_changed AFTER UPDATE OF read ON marks WHEN old.read <> new.read BEGIN
	INSERT INTO unread SELECT new.person, new.feed, 1 WHERE NOT new.read ON CONFLICT DO UPDATE SET items = items + 1;
	UPDATE unread SET items = items - 1 WHERE new.read AND person = new.person AND feed = new.feed;
END;

-- What the node wrote about what its neighbors gave and got.
CREATE TABLE accounts (
	holder TEXT PRIMARY KEY,
	text   BLOB NOT NULL
) STRICT;

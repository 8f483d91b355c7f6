-- Of the entries that are in words, the words of their titles: there one passes all places where a word stands in a
-- text to come to those where it stands in a title. Phrases and single letters are left out, which most queries are not
-- about. What words holds so far is added by addHeadings.
CREATE VIRTUAL TABLE headings USING fts5 (title, content = '', contentless_delete = 1, tokenize = 'ascii',
	detail = 'none');
INSERT INTO headings (headings, rank) VALUES ('automerge', 0);

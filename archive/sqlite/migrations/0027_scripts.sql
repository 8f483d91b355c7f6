-- Letters of scripts without blanks between words are words of their own now (archive.Fold): what may hold some, as they
-- are or by their numbers, is indexed anew.
INSERT OR IGNORE INTO stale SELECT seq FROM entries
WHERE seq <= (SELECT indexed FROM state) AND (
	concat_ws(' ', title, authors, categories, summary, content) GLOB '*[' ||
		char(0x0E00) || '-' || char(0x0EFF) || char(0x1000) || '-' || char(0x11FF) ||
		char(0x1780) || '-' || char(0x17FF) || char(0x2E80) || '-' || char(0xD7FF) ||
		char(0xF900) || '-' || char(0xFAFF) || char(0xFF66) || '-' || char(0xFFDC) ||
		char(0x20000) || '-' || char(0x3FFFF) || ']*'
	OR concat_ws(' ', title, summary, content) GLOB '*&#*');

package discover

import (
	"slices"
	"strings"
	"unicode"
)

// Meant is the feed that is meant by an owner who gives the address of a page that names these, and false where that is
// the owner's to say. Feeds of comments are not meant where there are others. A feed that a page names in several
// formats under one title is one feed, and the format the one that it names first.
func Meant(list []SiteFeed) (SiteFeed, bool) {
	i := slices.IndexFunc(list, func(f SiteFeed) bool { return order(&f) > 0 })
	if i > 0 { // they are last
		list = list[:i]
	}
	if len(list) == 0 {
		return SiteFeed{}, false
	}
	first, formats := bare(list[0].Title), map[string]bool{list[0].Type: true}
	for _, f := range list[1:] {
		if bare(f.Title) != first || formats[f.Type] {
			return SiteFeed{}, false
		}
		formats[f.Type] = true
	}
	return list[0], true
}

// order is where a feed stands among those of a page: comments behind the rest.
func order(f *SiteFeed) int {
	path := strings.ToLower(string(f.URL))
	title := strings.ToLower(f.Title)
	for _, word := range comments {
		if strings.Contains(title, word) {
			return 1
		}
	}
	if strings.Contains(path, "/comments/") || strings.HasSuffix(path, "/comments") ||
		strings.Contains(path, "feed=comments") {
		return 1
	}
	return 0
}

// comments are the words by which feeds of comments are called, as they begin.
var comments = []string{
	"comment", "kommentar", "comentári", "comentari", "commenti", "reacties", "kommentti", "komentar",
	"komentář", "komentarz",
	"комментар", "коментар", "yorum", "コメント", "评论", "評論", "留言", "댓글",
}

// bare is a title without the words that tell formats apart.
func bare(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return formatWords[w] })
	return strings.Join(words, " ")
}

var formatWords = map[string]bool{
	"rss": true, "rss2": true, "atom": true, "json": true, "rdf": true, "xml": true, "feed": true, "jsonfeed": true,
	"0": true, "1": true, "2": true, "03": true, "10": true, "20": true, "92": true, "91": true,
}

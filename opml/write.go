package opml

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Write writes a list as an OPML 2.0 document: feeds without a folder first, then folder by folder. A created time of
// zero is left out. It ends at the first error of w.
func Write(w io.Writer, l List, created time.Time) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s<opml version=\"2.0\">\n<head>\n<title>%s</title>\n", xml.Header, escape(l.Title))
	if !created.IsZero() {
		fmt.Fprintf(out, "<dateCreated>%s</dateCreated>\n", created.UTC().Format(dateLayout))
	}
	out.WriteString("</head>\n<body>\n")
	var open []string
	for _, f := range inFolders(l.Feeds) {
		same := 0
		for same < min(len(open), len(f.Folder)) && open[same] == f.Folder[same] {
			same++
		}
		for len(open) > same {
			open = open[:len(open)-1]
			fmt.Fprintf(out, "%s</outline>\n", indent(len(open)))
		}
		for _, name := range f.Folder[same:] {
			fmt.Fprintf(out, "%s<outline text=\"%s\">\n", indent(len(open)), escape(name))
			open = append(open, name)
		}
		// Some readers look at the text, which OPML wants, some at the title only.
		title := escape(cmp.Or(oneLine(f.Title), string(f.URL)))
		fmt.Fprintf(out, "%s<outline type=\"rss\" text=\"%s\" title=\"%s\" xmlUrl=\"%s\"", indent(len(open)), title,
			title, escape(string(f.URL)))
		if site := escape(f.Site); site != "" {
			fmt.Fprintf(out, " htmlUrl=\"%s\"", site)
		}
		out.WriteString("/>\n")
	}
	for len(open) > 0 {
		open = open[:len(open)-1]
		fmt.Fprintf(out, "%s</outline>\n", indent(len(open)))
	}
	out.WriteString("</body>\n</opml>\n")
	return out.Flush()
}

// dateLayout is the layout of times in UTC: OPML wants dates of RFC 822, the year with two digits or better four.
const dateLayout = "Mon, 02 Jan 2006 15:04:05 GMT"

// inFolders is the feeds with those of a folder beside one another, otherwise in their order, and with the names of
// folders as they are written.
func inFolders(feeds []Outline) []Outline {
	feeds = slices.Clone(feeds)
	for i := range feeds {
		var path []string
		for _, name := range feeds[i].Folder {
			if name = oneLine(name); name != "" && len(path) < MaxDepth {
				path = append(path, name)
			}
		}
		feeds[i].Folder = path
	}
	slices.SortStableFunc(feeds, func(a, b Outline) int { return slices.Compare(a.Folder, b.Folder) })
	return feeds
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// escape is s as one line of XML text, fit for attributes.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(oneLine(s))) // a Builder takes everything
	return b.String()
}

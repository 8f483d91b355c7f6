package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// asksFor are the requests by which readers do what the columns of the table say, by the language that they speak.
var asksFor = map[string][]string{
	"greader": {
		`/edit-tag[^>]*state/com\.google/read\b`,
		`/edit-tag[^>]*state/com\.google/starred\b`,
		`/mark-all-as-read`,
		`/quickadd|ac=(un)?subscribe|/subscription/import`,
		`/subscription/edit[^>]*[&?\s](t|a|r)=|/rename-tag|/disable-tag`,
		``,
		``,
	},
	"fever": {
		`mark=item[^>]*as=(un)?read|as=(un)?read[^>]*mark=item`,
		`as=(un)?saved`,
		`mark=(feed|group)`,
		``,
		``,
		``,
		``,
	},
	"miniflux": {
		`PUT /v1/entries\s[^>]*"status"`,
		`/bookmark`,
		`/mark-all-as-read`,
		`(POST|DELETE) /v1/feeds|/v1/import`,
		`PUT /v1/feeds/\d+\s|(POST|PUT|DELETE) /v1/categories(/\d+)?\s`,
		`search=`,
		`/refresh`,
	},
	"nextcloud": {
		`/items/(\d+/)?(un)?read\b`,
		`/(un)?star\b`,
		`/(feeds|folders)/\d+/read\b|/items/read\s`,
		`POST \S*/feeds[?\s]|DELETE \S*/feeds/`,
		`/(move|rename)\s|(POST|PUT|DELETE) \S*/folders(/\d+)?\s`,
		``,
		`/feeds/update`,
	},
}

// The table of readers by function says of each conversation in testdata/readers what the reader asks for in it, and
// leaves none out.
func TestReadersTable(t *testing.T) {
	const dir = "../../testdata/readers"
	text, err := os.ReadFile("../../docs/READERS.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| [^|]+ \\| `((?:greader|fever|miniflux|nextcloud)-[a-z-]+)` \\|(.*)\\|$")
	var named []string
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		named = append(named, name)
		conversation, err := os.ReadFile(filepath.Join(dir, name+".txt"))
		if err != nil {
			t.Error(err)
			continue
		}
		asked := requestsOf(string(conversation))
		language, _, _ := strings.Cut(name, "-")
		cells := strings.Split(m[2], "|")
		if len(cells) != len(asksFor[language]) {
			t.Errorf("%s: %d cells, want %d", name, len(cells), len(asksFor[language]))
			continue
		}
		for i, pattern := range asksFor[language] {
			want := "–"
			if pattern != "" && regexp.MustCompile(pattern).MatchString(asked) {
				want = "yes"
			}
			if got := strings.TrimSpace(cells[i]); got != want {
				t.Errorf("%s: cell %d is %q, want %q", name, i+1, got, want)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".txt"); !strings.HasSuffix(name, "-any") &&
			!slices.Contains(named, name) {
			t.Errorf("docs/READERS.md has no row for %s", name)
		}
	}
}

// The table of feed readers says in which ways the tests that it names have a reader read, and leaves none out.
func TestFeedReadersTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/READERS.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var tests strings.Builder
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(source)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	row := regexp.MustCompile(`(?m)^\| [^|]+ \| (yes|–) \| (yes|–) \| (yes|–) \| in each run: (.*) \|$`)
	rows := row.FindAllStringSubmatch(string(text), -1)
	for _, m := range rows {
		var bodies string
		for _, name := range named.FindAllStringSubmatch(m[4], -1) {
			_, body, ok := strings.Cut(tests.String(), "\nfunc "+name[1]+"(")
			if !ok {
				t.Errorf("there is no test %s", name[1])
			}
			body, _, _ = strings.Cut(body, "\n}\n")
			bodies += body
		}
		for i, way := range []string{"/opml?via=node", `"/feed/"`, "http_proxy="} {
			if yes := m[i+1] == "yes"; yes != strings.Contains(bodies, way) {
				t.Errorf("%q: cell %d is %s", m[0], i+1, m[i+1])
			}
		}
	}
	if len(rows) < 3 {
		t.Errorf("the table has %d rows of what is run", len(rows))
	}
}

// requestsOf are the requests of a conversation, with slashes that are not encoded, each behind what it is for.
func requestsOf(conversation string) string {
	var requests strings.Builder
	for _, part := range strings.Split(conversation, "\n>>> ")[1:] {
		request, _, _ := strings.Cut(part, "\n<<<")
		requests.WriteString(">>> " + strings.ReplaceAll(request, "%2F", "/") + "\n")
	}
	return requests.String()
}

package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// verdict is how the line below a claim of a paper begins: docs/PAPER.md says what each means.
var verdict = regexp.MustCompile(`^(Yes|Differs|Partial|Not yet|Not in the paper|Not)\b`)

// Each claim of a paper has a verdict, and one that is kept says by what that can be seen: a test, a command or a page.
func TestPapersHaveVerdicts(t *testing.T) {
	index, err := os.ReadFile("../../docs/PAPER.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/papers/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	seen := regexp.MustCompile("`Test\\w+`|`(feedex|go test|make) [^`]+`|\\]\\(")
	for _, path := range pages {
		name := filepath.Base(path)
		if !strings.Contains(string(index), "](papers/"+name+")") {
			t.Errorf("docs/PAPER.md does not lead to docs/papers/%s", name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		claims := make(map[string]bool)
		rows := strings.Split("\n"+string(text), "\n- ")[1:]
		for _, row := range rows {
			row, _, _ = strings.Cut(row, "\n\n")
			claim, rest, _ := strings.Cut(row, "\n  - ")
			claim = strings.Join(strings.Fields(claim), " ")
			if claims[claim] {
				t.Errorf("%s: %q stands there twice", path, claim)
			}
			claims[claim] = true
			m := verdict.FindString(rest)
			if m == "" {
				t.Errorf("%s: %q has no verdict", path, claim)
			}
			if m != "Not" && m != "Not yet" && !seen.MatchString(rest) {
				t.Errorf("%s: %q says %q, and not what shows it", path, claim, m)
			}
		}
		if len(rows) < 15 {
			t.Errorf("%s has %d rows only", path, len(rows))
		}
	}
}

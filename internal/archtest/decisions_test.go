package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// numbers are those of decisions, as a status lists them: "7", "7 and 9", "7, 8 and 9".
const numbers = `(\d+(?:, \d+)*(?: and \d+)?)`

// status is the third line of a decision, below its title.
var status = regexp.MustCompile(`^Status: (?:accepted|superseded by (\d+))(?:, supersedes ` + numbers +
	`)?(?:, amends ` + numbers + `)?(?:, amended by ` + numbers + `)?$`)

// A relation is a statement about another decision in the status of one.
type relation struct {
	from int
	verb string
	to   int
}

// Each decision says whether it holds, and what a status says of another decision that one says as well.
func TestDecisionsHaveAStatus(t *testing.T) {
	paths, err := filepath.Glob("../../docs/adr/[0-9]*.md")
	if err != nil || len(paths) < 46 {
		t.Fatalf("%d decisions, %v", len(paths), err)
	}
	verbs := []string{"superseded by", "supersedes", "amends", "amended by"}
	inverse := map[string]string{"superseded by": "supersedes", "supersedes": "superseded by",
		"amends": "amended by", "amended by": "amends"}
	said, decisions := make(map[relation]bool), make(map[int]bool)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.Atoi(filepath.Base(path)[:4])
		if err != nil || decisions[number] {
			t.Errorf("%s has no number of its own", path)
		}
		decisions[number] = true
		lines := strings.SplitN(string(text), "\n", 4)
		if len(lines) < 4 || !strings.HasPrefix(lines[0], fmt.Sprintf("# %d. ", number)) || lines[1] != "" {
			t.Errorf("%s does not begin with its number, its title and its status", path)
			continue
		}
		m := status.FindStringSubmatch(lines[2])
		if m == nil {
			t.Errorf("%s: %q is no status: docs/adr/README.md has the forms", path, lines[2])
			continue
		}
		for i, verb := range verbs {
			others := numbersIn(m[i+1])
			if !slices.IsSorted(others) {
				t.Errorf("%s: %s %v, not in their order", path, verb, others)
			}
			for _, other := range others {
				said[relation{number, verb, other}] = true
			}
		}
	}
	for r := range said {
		if r.from == r.to || !decisions[r.to] {
			t.Errorf("ADR %d is said to be %s %d, which is no other decision", r.from, r.verb, r.to)
		} else if back := (relation{r.to, inverse[r.verb], r.from}); !said[back] {
			t.Errorf("ADR %d: %s %d, but %d does not say: %s %d", r.from, r.verb, r.to, r.to, back.verb, r.from)
		}
	}
}

// numbersIn are the numbers of a list.
func numbersIn(list string) (found []int) {
	for _, digits := range regexp.MustCompile(`\d+`).FindAllString(list, -1) {
		n, _ := strconv.Atoi(digits) // digits alone
		found = append(found, n)
	}
	return found
}

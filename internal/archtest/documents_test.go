package archtest

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Some documents name a test for each claim: a test that is gone would make them lie.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	const root = "../.."
	declared := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			declared[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob(filepath.Join(root, "docs", "adr", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	experiments, err := filepath.Glob(filepath.Join(root, "docs", "evaluation", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	papers, err := filepath.Glob(filepath.Join(root, "docs", "papers", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]int{"POLITENESS.md": 20, "PROTOCOL.md": 0}
	for _, path := range papers {
		least[filepath.Join("papers", filepath.Base(path))] = 5
	}
	for _, path := range append(decisions, experiments...) {
		least[filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))] = 0
	}
	for document, least := range least {
		text, err := os.ReadFile(filepath.Join(root, "docs", document))
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1)
		if len(named) < least {
			t.Errorf("docs/%s names %d tests only", document, len(named))
		}
		for _, m := range named {
			if !declared[m[1]] {
				t.Errorf("docs/%s names %s, and there is no such test", document, m[1])
			}
		}
	}
}

// The README's figures are those that the evaluation has of as many nodes, in whole minutes.
func TestFiguresOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	evaluation, err := os.ReadFile("../../docs/evaluation/polling.md")
	if err != nil {
		t.Fatal(err)
	}
	promised := regexp.MustCompile(strings.ReplaceAll(`five nodes that follow the same feeds have an entry (\S+) `+
		`minutes after it came out, on average, and each asks a feed (\S+) times a day; one alone has it after (\S+), `+
		`for (\S+) requests. If each asks once an hour, five have it after (\S+) minutes, and one alone after (\d+)`,
		" ", `\s+`)).FindSubmatch(readme)
	if promised == nil {
		t.Fatal("README.md does not say how late entries are")
	}
	measured := func(policy, nodes string) (delay, requests string) {
		row := regexp.MustCompile(`\n +` + policy + ` +` + nodes + ` +([\d.]+) \(\S+\) +\S+ +\S+ +\S+ +\S+ +(\S+)`).
			FindSubmatch(evaluation)
		if row == nil {
			t.Fatalf("docs/evaluation/polling.md has no row of %s and %s", policy, nodes)
		}
		minutes, err := strconv.ParseFloat(string(row[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(int(math.Round(minutes))), string(row[2])
	}
	var want []string
	for _, nodes := range []string{"5", "1"} {
		delay, requests := measured("Auto", nodes)
		want = append(want, delay, requests)
	}
	for _, nodes := range []string{"5", "1"} {
		delay, _ := measured("Fix 1h", nodes)
		want = append(want, delay)
	}
	for i, figure := range want {
		if said := string(promised[i+1]); said != figure {
			t.Errorf("README.md says %s, docs/evaluation/polling.md %s", said, figure)
		}
	}
}

// Each experiment has a page with the same parts, to which docs/EVALUATION.md leads.
func TestExperimentsArePages(t *testing.T) {
	index, err := os.ReadFile("../../docs/EVALUATION.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/evaluation/*.md")
	if err != nil || len(pages) < 8 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, path := range pages {
		if name := filepath.Base(path); !strings.Contains(string(index), "](evaluation/"+name+")") {
			t.Errorf("docs/EVALUATION.md does not lead to docs/evaluation/%s", name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rest := string(text)
		for _, part := range []string{"Question\n", "Answer\n", "Command\n", "Table", "Limits\n"} {
			var found bool
			if _, rest, found = strings.Cut(rest, "\n## "+part); !found {
				t.Errorf("%s has no part %s in its place", path, strings.TrimSpace(part))
			}
		}
	}
}

// What docs/EVALUATION.md says in figures of an experiment, its page has, where need be with more digits.
func TestFiguresOfExperimentsAreThoseOfTheirPages(t *testing.T) {
	figure := regexp.MustCompile(`(?:\d[\d,]*)?\.?\d+`)
	number := func(text string) float64 {
		n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	index, err := os.ReadFile("../../docs/EVALUATION.md")
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, of := range regexp.MustCompile(`\n- \[[^]]*\]\((evaluation/\w+\.md)\)([^\n]*(?:\n  [^\n]*)*)`).
		FindAllStringSubmatch(string(index), -1) {
		page, err := os.ReadFile("../../docs/" + of[1])
		if err != nil {
			t.Fatal(err)
		}
		measured := figure.FindAllString(string(page), -1)
		for _, f := range figure.FindAllString(of[2], -1) {
			said++
			_, fraction, _ := strings.Cut(f, ".")
			unit := math.Pow10(len(fraction))
			if !slices.ContainsFunc(measured, func(m string) bool {
				return math.Round(number(m)*unit) == math.Round(number(f)*unit)
			}) {
				t.Errorf("docs/EVALUATION.md says %s of docs/%s, which has no such figure", f, of[1])
			}
		}
	}
	if said < 40 {
		t.Errorf("%d figures only", said)
	}
}

// A link of a document to a file leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, path := range markdown(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)\s]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if links < 50 {
		t.Errorf("%d links only", links)
	}
}

// markdown are the paths of all documents of the repository.
func markdown(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

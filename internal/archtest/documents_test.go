package archtest

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
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
	least := map[string]int{"PAPER.md": 20, "POLITENESS.md": 20, "PROTOCOL.md": 0}
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

// The README's figures are those that the evaluation has of the same setting.
func TestFiguresOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	evaluation, err := os.ReadFile("../../docs/evaluation/paper.md")
	if err != nil {
		t.Fatal(err)
	}
	promised := regexp.MustCompile(`every (\d+)\s+hours\s+have\s+an\s+entry\s+([\d.]+)\s+minutes\s[^;]+;` +
		`\s+by\s+their\s+own\s+polls\s+alone\s+it\s+would\s+be\s+(\d+)`).FindSubmatch(readme)
	if promised == nil {
		t.Fatal("README.md does not say how late entries are")
	}
	row := regexp.MustCompile(`Time lag in minutes[^|]*?\n +` + string(promised[1]) +
		` +([\d.]+) \([^)]*\) +([\d.]+) \(`).
		FindSubmatch(evaluation)
	if row == nil {
		t.Fatalf("docs/evaluation/paper.md has no row of %s hours", promised[1])
	}
	alone, err := strconv.ParseFloat(string(row[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	if string(promised[2]) != string(row[2]) || string(promised[3]) != strconv.Itoa(int(math.Round(alone))) {
		t.Errorf("README.md says %s and %s minutes, docs/evaluation/paper.md %s and %s", promised[2], promised[3],
			row[2], row[1])
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

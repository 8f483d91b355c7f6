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
	least := map[string]int{"PAPER.md": 20, "POLITENESS.md": 20, "EVALUATION.md": 1, "PROTOCOL.md": 0}
	for _, path := range decisions {
		least[filepath.Join("adr", filepath.Base(path))] = 0
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
	evaluation, err := os.ReadFile("../../docs/EVALUATION.md")
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
		t.Fatalf("docs/EVALUATION.md has no row of %s hours", promised[1])
	}
	alone, err := strconv.ParseFloat(string(row[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	if string(promised[2]) != string(row[2]) || string(promised[3]) != strconv.Itoa(int(math.Round(alone))) {
		t.Errorf("README.md says %s and %s minutes, docs/EVALUATION.md %s and %s", promised[2], promised[3],
			row[2], row[1])
	}
}

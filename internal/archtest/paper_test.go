package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	for document, least := range map[string]int{"PAPER.md": 20, "POLITENESS.md": 20} {
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

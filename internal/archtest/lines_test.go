package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	// maxColumns is how wide a line may be, in Go and in documents; a tab counts as tabColumns.
	maxColumns = 120
	tabColumns = 4
)

// Lines fit beside one another on a screen: but for texts within raw strings, which have lines of their own, and
// messages in documents, which are as they go over the wire.
func TestLinesAreShort(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		extension := filepath.Ext(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || extension != ".go" && extension != ".md" && extension != ".service":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		var own map[int]bool
		if extension == ".go" {
			own = rawLines(t, path)
		}
		n, message := 0, false
		for line := range strings.Lines(string(text)) {
			n++
			line = strings.TrimSuffix(line, "\n")
			if extension == ".md" && strings.HasPrefix(line, "```") {
				message = line == "```xml"
			}
			columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
			if columns > maxColumns && !own[n] && !message {
				t.Errorf("%s:%d has %d columns, the limit is %d", path, n, columns, maxColumns)
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("%d files, %v", files, err)
	}
}

// rawLines are the lines of a Go file over which a raw string goes that has several.
func rawLines(t *testing.T, path string) map[int]bool {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[int]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		if !ok {
			return true
		}
		if first, last := fset.Position(text.Pos()).Line, fset.Position(text.End()).Line; first != last {
			for n := first; n <= last; n++ {
				lines[n] = true
			}
		}
		return true
	})
	return lines
}

package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCoreReadsNoClockAndStartsNoGoroutine(t *testing.T) {
	for _, p := range packages(t) {
		if !isCore(t, p) {
			continue
		}
		for _, path := range p.files(p.GoFiles) {
			inspect(t, path, func(at string, n ast.Node, _ []ast.Node) {
				if _, ok := n.(*ast.GoStmt); ok {
					t.Errorf("%s: go statement: the core is single-threaded", at)
				}
				if name := timeCall(n); readsClock(name) {
					t.Errorf("%s: time.%s: the core is told the time", at, name)
				}
			})
		}
	}
}

// readsClock reports whether the function of package time that is so called depends on the clock.
func readsClock(name string) bool {
	switch name {
	case "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker":
		return true
	}
	return false
}

func TestNoInitFunctions(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range p.files(p.GoFiles) {
			inspect(t, path, func(at string, n ast.Node, _ []ast.Node) {
				if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					t.Errorf("%s: func init: wire things where they are used", at)
				}
			})
		}
	}
}

func TestTestsSleepInVirtualTimeOnly(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range p.files(p.TestGoFiles, p.XTestGoFiles) {
			inspect(t, path, func(at string, n ast.Node, parents []ast.Node) {
				if timeCall(n) == "Sleep" && !inBubble(parents) {
					t.Errorf("%s: time.Sleep outside synctest.Test: wait for what happens instead", at)
				}
			})
		}
	}
}

// timeCall is the name of the function of package time that n calls, "" if it calls none.
func timeCall(n ast.Node) string {
	if call, ok := n.(*ast.CallExpr); ok {
		return selected(call.Fun, "time")
	}
	return ""
}

// selected is x in the expression pkg.x, "" for other expressions.
func selected(e ast.Expr, pkg string) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
			return sel.Sel.Name
		}
	}
	return ""
}

// inBubble reports whether one of the nodes is a call of synctest.Test.
func inBubble(nodes []ast.Node) bool {
	for _, n := range nodes {
		if call, ok := n.(*ast.CallExpr); ok && selected(call.Fun, "synctest") == "Test" {
			return true
		}
	}
	return false
}

// inspect calls visit for every node of a Go file, with its position and the nodes around it.
func inspect(t *testing.T, path string, visit func(at string, n ast.Node, parents []ast.Node)) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var parents []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		visit(fset.Position(n.Pos()).String(), n, parents)
		parents = append(parents, n)
		return true
	})
}

func TestFilesAreShort(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range p.files(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			limit := maxCodeLines
			if strings.HasSuffix(path, "_test.go") {
				limit = maxTestLines
			}
			if n := bytes.Count(text, []byte("\n")); n > limit {
				t.Errorf("%s has %d lines, the limit is %d: it holds a second concept",
					filepath.Join(p.name(), filepath.Base(path)), n, limit)
			}
		}
	}
}

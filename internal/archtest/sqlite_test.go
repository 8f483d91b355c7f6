package archtest

import (
	"go/ast"
	"path/filepath"
	"testing"
)

// interruptibleFile is where connections to SQLite are opened, behind what gives every statement its deadline.
const interruptibleFile = "archive/sqlite/interruptible.go"

// Every statement has a deadline: databases are opened in one place, by which every connection is interruptible.
func TestStatementsAreInterruptible(t *testing.T) {
	opened := 0
	for _, p := range packages(t) {
		if testOnly()[p.name()] {
			continue
		}
		for _, path := range p.files(p.GoFiles) {
			file := p.name() + "/" + filepath.Base(path)
			inspect(t, path, func(at string, n ast.Node, _ []ast.Node) {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return
				}
				switch opens := selected(call.Fun, "sql"); {
				case opens == "OpenDB" && file == interruptibleFile && isInterruptible(call.Args):
					opened++
				case opens == "Open" || opens == "OpenDB":
					t.Errorf("%s: sql.%s: databases are opened in %s, where statements get their deadlines", at, opens,
						interruptibleFile)
				}
			})
		}
	}
	if opened != 1 {
		t.Errorf("%s opens interruptible databases in %d places, want one", interruptibleFile, opened)
	}
}

// isInterruptible reports whether the only argument is a connector that makes interruptible connections.
func isInterruptible(args []ast.Expr) bool {
	if len(args) != 1 {
		return false
	}
	made, ok := args[0].(*ast.CompositeLit)
	if !ok {
		return false
	}
	name, ok := made.Type.(*ast.Ident)
	return ok && name.Name == "interruptibleConnector"
}

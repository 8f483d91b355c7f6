package archtest

import (
	"go/ast"
	"path/filepath"
	"testing"
)

// interruptibleFile is where connections to SQLite are opened, behind what gives every statement its deadline.
const interruptibleFile = "archive/sqlite/interruptible.go"

// Every statement has a deadline: databases are opened in one place, by which every connection is interruptible, and
// such connections reach the driver only within a limit.
func TestStatementsAreInterruptible(t *testing.T) {
	opened := 0
	for _, p := range packages(t) {
		if testOnly()[p.name()] {
			continue
		}
		for _, path := range p.files(p.GoFiles) {
			file := p.name() + "/" + filepath.Base(path)
			inspect(t, path, func(at string, n ast.Node, parents []ast.Node) {
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
				if p.name() == "archive/sqlite" && reachesDriver(call.Fun) &&
					!within(parents, "pass", "atOnce", "rows", "rollBack", "close", "read") {
					t.Errorf("%s: the driver is asked outside pass: nothing bounds how long that takes", at)
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
	address, ok := args[0].(*ast.UnaryExpr)
	if !ok {
		return false
	}
	made, ok := address.X.(*ast.CompositeLit)
	if !ok {
		return false
	}
	name, ok := made.Type.(*ast.Ident)
	return ok && name.Name == "interruptibleConnector"
}

// reachesDriver reports whether a function is one of the driver's: a method of what a connection, a statement, rows or
// a snapshot embeds.
func reachesDriver(f ast.Expr) bool {
	sel, ok := f.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x := sel.X
	if cast, ok := x.(*ast.TypeAssertExpr); ok {
		x = cast.X
	}
	of, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch of.Sel.Name {
	case "connection", "Connector", "Stmt", "Rows", "Tx":
		return true
	}
	return false
}

// within reports whether one of the nodes is a call of a function with one of the names, or its declaration.
func within(nodes []ast.Node, names ...string) bool {
	for _, n := range nodes {
		name := ""
		switch n := n.(type) {
		case *ast.FuncDecl:
			name = n.Name.Name
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
		}
		for _, want := range names {
			if name == want {
				return true
			}
		}
	}
	return false
}

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// sharedNames are the names of types that several packages have, and why they may.
func sharedNames() map[string]string {
	const (
		apis = "one thing in APIs of feed readers: each has its own form of it"
		atom = "one thing at two places: an element of Atom, as feeds and as an API of feed readers write it"
	)
	return map[string]string{
		"Client":   "Go's idiom: the calling side of a service",
		"Config":   "Go's idiom: the choices for a type of the package",
		"Handler":  "Go's idiom: an http.Handler",
		"handler":  "Go's idiom: an http.Handler",
		"Reader":   "Go's idiom: the reading side of a format, an archive or a service",
		"Report":   "Go's idiom: the outcome of the package's work",
		"Request":  "Go's idiom: a message of a client, by HTTP",
		"Settings": "Go's idiom: the owner's choices",
		"Source":   "Go's idiom: the package's only way to its data, as an interface",
		"Status":   "Go's idiom: the state of a part of the program at one moment",
		"Store":    "Go's idiom: the keeper of the package's data",
		"ID":       "Go's idiom: what the package's things are told apart by",
		"Machine":  "Go's idiom: the four parts of a node, whose package says which",

		"Call":        "one thing at three levels: a wish of the core, a call of the protocol, its XML-RPC",
		"Fault":       "one thing at two levels: a refusal of the protocol, its XML-RPC",
		"Entry":       "one thing at two levels: an entry, its JSON",
		"Housekeeper": "one thing at two levels: the role, and the archive that plays it",
		"Exchange":    "ports to one machine: each machine declares the calls that it needs of another",
		"Feeds":       "ports and a role: each package declares the calls about feeds that it needs",
		"Membership":  "ports to one machine: each machine declares the calls that it needs of another",
		"link":        "one thing at three places: the state that each machine keeps of a core.Link",

		"category":   apis,
		"enclosure":  apis,
		"endpoint":   apis,
		"entry":      apis,
		"feedObject": apis,
		"request":    apis,

		"atomCategory": atom,
		"atomEntry":    atom,
		"atomLink":     atom,
		"atomPerson":   atom,
		"atomText":     atom,
	}
}

// A name of a type means one thing: it is that of one package, exported or not. A second name of a type that is
// declared elsewhere counts where it differs from the first.
func TestATypeNameMeansOneThing(t *testing.T) {
	in := make(map[string][]string)
	for _, p := range packages(t) {
		if testOnly()[p.name()] {
			continue
		}
		for _, path := range p.files(p.GoFiles) {
			for _, name := range typeNames(t, path) {
				in[name] = append(in[name], p.name())
			}
		}
	}
	if len(in) < 500 {
		t.Errorf("%d names only", len(in))
	}
	excepted := sharedNames()
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if excepted[name] == "" && len(in[name]) > 1 {
			t.Errorf("%v each have a type %s: give it the name of what it is there", in[name], name)
		}
	}
	for name := range excepted {
		if len(in[name]) <= 1 {
			t.Errorf("%s needs no exception: only %v have such a type", name, in[name])
		}
	}
}

// typeNames are the names of the types that a file declares, but for names that other packages gave to them.
func typeNames(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, spec := range d.Specs {
				if s := spec.(*ast.TypeSpec); !s.Assign.IsValid() || aliased(s.Type) != s.Name.Name {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// aliased is the name that the package of a type gives to it, "" for a type of the file's own package.
func aliased(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		return sel.Sel.Name
	}
	return ""
}

// A comment that begins with the name of what it is about, in whatever case, begins with that name: it was renamed, or
// made visible to others or to nobody, and the comment with it. One that begins with another name of its package is
// about that.
func TestCommentsBeginWithTheNamesOfThings(t *testing.T) {
	comments := 0
	for _, p := range packages(t) {
		about := make(map[string]string) // the first word of each comment; of a type its name
		for _, path := range p.files(p.GoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				d, ok := decl.(*ast.FuncDecl)
				if ok && d.Doc != nil {
					about[d.Name.Name], _, _ = strings.Cut(d.Doc.Text(), " ")
				}
			}
			for _, name := range typeNames(t, path) {
				about[name] = name
			}
		}
		for name, word := range about {
			comments++
			if word != name && (strings.EqualFold(word, name) || about[word] != "" && ast.IsExported(word)) {
				t.Errorf("%s: the comment about %s is about %s", p.name(), name, word)
			}
		}
	}
	if comments < 4000 {
		t.Errorf("%d comments only", comments)
	}
}

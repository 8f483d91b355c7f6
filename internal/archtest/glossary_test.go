package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A name of the glossary is in the code, and is that of one word.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("../../docs/PAPER.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "\n## Words\n")
	if !ok {
		t.Fatal("docs/PAPER.md has no section of words")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	declared, words, names := declarations(t), make(map[string]bool), make(map[string]string)
	row := regexp.MustCompile(`(?m)^\| ([^*|][^|]*) \| [^|]+ \| ([^|]+) \|$`)
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		word := m[1]
		if word == "word" || strings.HasPrefix(word, "---") {
			continue
		}
		if words[word] {
			t.Errorf("the word %q stands there twice", word)
		}
		words[word] = true
		for name := range strings.SplitSeq(m[2], ", ") {
			name = strings.Trim(name, "`")
			if other, ok := names[name]; ok {
				t.Errorf("%s stands under %q and under %q", name, other, word)
			}
			names[name] = word
			if !declared[name] {
				t.Errorf("%s, for %q, is not in the code", name, word)
			}
		}
	}
	if len(words) < 60 {
		t.Errorf("the table has %d words only", len(words))
	}
}

// declarations are the names of types and what belongs to them, of functions, constants and variables, each after
// the name of its package.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	declared := make(map[string]bool)
	for _, p := range packages(t) {
		for _, path := range p.files(p.GoFiles) {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				for _, name := range namesOf(decl) {
					declared[file.Name.Name+"."+name] = true
				}
			}
		}
	}
	return declared
}

// namesOf are the names that a declaration makes: of a method after that of its type, and so of a field.
func namesOf(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if id, ok := receiver.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
		return []string{name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, field := range st.Fields.List {
						for _, id := range field.Names {
							names = append(names, s.Name.Name+"."+id.Name)
						}
					}
				}
			}
		}
	}
	return names
}

package archtest

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guides are the sections of HACKING.md that lead from place to place, each with how many places it names at least.
func guides() map[string]int {
	return map[string]int{
		"Five walks":                   10,
		"Adding a call":                5,
		"Adding a reader API":          5,
		"Adding a setting":             2,
		"Adding an experiment":         5,
		"Adding an archive":            8,
		"Adding a polling policy":      10,
		"Adding a receipt to an entry": 10,
	}
}

// The places to which HACKING.md leads are there: `folder/file.go`, `folder/file.go:Name` for what is declared in it,
// and `package.Name` for what is declared somewhere in a package; what has one word alone is declared somewhere.
func TestGuidesLeadToPlaces(t *testing.T) {
	text, err := os.ReadFile("../../HACKING.md")
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile("`((?:[a-z0-9]+/)+[a-z0-9_]+\\.[a-z]+)(?::([A-Za-z.]+))?`")
	name := regexp.MustCompile("`([a-z0-9]+\\.[A-Za-z]+(?:\\.[A-Za-z]+)?)`")
	word := regexp.MustCompile("`([a-z][A-Za-z]*)`")
	declared, settings := declarations(t), []string{"polling.policy"} // which looks like a name
	words := make(map[string]bool)
	for name := range declared {
		words[name[strings.LastIndexByte(name, '.')+1:]] = true
	}
	for _, p := range packages(t) {
		words[path.Base(p.name())] = true
	}
	for title, least := range guides() {
		_, section, ok := strings.Cut(string(text), "\n## "+title+"\n")
		if !ok {
			t.Errorf("HACKING.md has no section %q", title)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		places := 0
		for _, m := range file.FindAllStringSubmatch(section, -1) {
			places++
			path := filepath.Join("../..", m[1])
			if _, err := os.Stat(path); err != nil {
				t.Errorf("HACKING.md, %s: %v", title, err)
			} else if m[2] != "" && !slices.Contains(declaredIn(t, path), m[2]) {
				t.Errorf("HACKING.md, %s: %s declares no %s", title, m[1], m[2])
			}
		}
		for _, m := range name.FindAllStringSubmatch(section, -1) {
			places++
			if !declared[m[1]] && !slices.Contains(settings, m[1]) {
				t.Errorf("HACKING.md, %s: %s is not in the code", title, m[1])
			}
		}
		for _, m := range word.FindAllStringSubmatch(section, -1) {
			if !words[m[1]] && !strings.Contains(m[1], "NAME") { // which stands for a name
				t.Errorf("HACKING.md, %s: nothing is called %s", title, m[1])
			}
		}
		if places < least {
			t.Errorf("HACKING.md, %s: %d places only", title, places)
		}
	}
}

// declaredIn are the names that a file declares, methods after their types.
func declaredIn(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		names = append(names, namesOf(decl)...)
	}
	return names
}

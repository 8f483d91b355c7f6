package archtest

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A goPackage is the object that `go list -json` prints of a package.
type goPackage struct {
	ImportPath                         string
	Dir                                string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports                            []string
}

// name is the package's path inside the module.
func (p *goPackage) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// files are the paths of the given files of the package.
func (p *goPackage) files(names ...[]string) []string {
	var out []string
	for _, n := range slices.Concat(names...) {
		out = append(out, filepath.Join(p.Dir, n))
	}
	return out
}

// packages lists every package of the module.
func packages(t *testing.T) []*goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports",
		"feedex/...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var list []*goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(goPackage)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// layers is the layer of each package, from the table in HACKING.md: a package imports packages of lower layers only,
// so those of one layer never meet.
func layers(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile("../../HACKING.md")
	if err != nil {
		t.Fatal(err)
	}
	layer := make(map[string]int)
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| ([^|]*) \|`).FindAllStringSubmatch(string(text), -1) {
		for _, name := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(row[2], -1) {
			if _, twice := layer[name[1]]; twice {
				t.Errorf("HACKING.md has %s in two layers", name[1])
			}
			if layer[name[1]], err = strconv.Atoi(row[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return layer
}

func TestPackagesImportLowerLayersOnly(t *testing.T) {
	layer, seen := layers(t), make(map[string]bool)
	defer func() {
		for name := range layer {
			if !seen[name] {
				t.Errorf("package %s has a layer but does not exist", name)
			}
		}
	}()
	for _, p := range packages(t) {
		seen[p.name()] = true
		if testOnly()[p.name()] {
			continue
		}
		own, ok := layer[p.name()]
		if !ok {
			t.Errorf("package %s has no layer: decide which one and add it to the table in HACKING.md", p.name())
			continue
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			if testOnly()[imported] {
				t.Errorf("%s imports %s, which is for tests only", p.name(), imported)
			} else if l, ok := layer[imported]; ok && l >= own {
				t.Errorf("%s (layer %d) imports %s (layer %d): imports go to lower layers only", p.name(),
					own, imported, l)
			}
		}
	}
}

// Any archive may stand behind a node: only the program says which one does. Tests of other packages that need an
// archive on disk open the program's by a package of one file, so that another one has to be named nowhere else. The
// rule goes for the module in e2e as well.
func TestOnlyTheProgramNamesItsArchive(t *testing.T) {
	allowed := map[string]map[string]bool{
		module + "archive/sqlite": {
			"archive/sqlite":             true,
			"archive/archivetest/ondisk": true, // for tests
			"cmd/feedex":                 true, // the wiring
		},
		"modernc.org/sqlite": {"archive/sqlite": true},
		"database/sql": {
			"archive/sqlite":             true,
			"archive/archivetest/ondisk": true, // to break and forge what is on the disk
			"cmd/feedex":                 true, // a test makes a file as an older feedex did
		},
	}
	seen := make(map[string]bool)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			by, bounded := allowed[imported]
			if bounded {
				seen[imported] = true
			}
			if bounded && !by[filepath.ToSlash(folder)] {
				t.Errorf("%s imports %s: work with reading.Database, or in a test with archivetest/ondisk", path,
					imported)
			}
		}
		return nil
	})
	if err != nil || len(seen) < len(allowed) {
		t.Errorf("saw %v, %v", seen, err)
	}
}

func TestCoreKeepsAwayFromIO(t *testing.T) {
	for _, p := range packages(t) {
		if !isCore(t, p) {
			continue
		}
		for _, path := range p.Imports {
			if why, bad := forbiddenInCore()[path]; bad && exceptions()[p.name()][path] == "" {
				t.Errorf("%s imports %s: %s", p.name(), path, why)
			}
		}
	}
}

// isCore reports whether p belongs to the layers without I/O.
func isCore(t *testing.T, p *goPackage) bool {
	t.Helper()
	l, ok := layers(t)[p.name()]
	return ok && l < coreLayers
}

func TestFolderNamesSayWhatIsInside(t *testing.T) {
	for _, p := range packages(t) {
		for _, element := range strings.Split(p.name(), "/") {
			if slices.Contains(forbiddenNames(), element) {
				t.Errorf("package %s: the name %q says nothing about what is inside", p.name(), element)
			}
		}
	}
}

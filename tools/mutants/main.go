// Mutants changes operators of packages, one at a time, and says which changes their tests do not notice.
//
//	go run ./mutants search courtesy
//
// It has gremlins test the packages, whose folders are named from the root of the project, and fails on a change that
// lived and that survivors.txt does not list with the reason why it may. It runs in tools, whose go.mod pins gremlins.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one operator that was changed, as gremlins reports it.
type mutant struct {
	Type, Status string
	Line, Column int
}

// A tally is what became of the mutants of one package.
type tally struct{ killed, late, bare int }

//go:embed survivors.txt
var listed string

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(packages []string) error {
	reasons, err := survivors(listed)
	if err != nil {
		return err
	}
	stray := 0
	for _, pkg := range packages {
		files, err := unleash(pkg)
		if err != nil {
			return err
		}
		lived, t, err := sum(pkg, files)
		if err != nil {
			return err
		}
		var fresh []string
		for _, l := range lived {
			if _, ok := reasons[l]; !ok {
				fresh = append(fresh, l)
			}
		}
		fmt.Printf("mutants of %s: %d killed, %d lived, %d took too long, %d not tried\n", pkg, t.killed, len(lived),
			t.late, t.bare)
		if err := t.believable(pkg); err != nil {
			return err
		}
		stray += len(fresh)
		for _, l := range fresh {
			fmt.Println("  no test notices", l)
		}
		for l := range reasons {
			if strings.HasPrefix(l, pkg+"/") && !slices.Contains(lived, l) {
				fmt.Println("  is listed and was noticed this time:", l)
			}
		}
	}
	if stray > 0 {
		return fmt.Errorf("%d mutants lived: test what they change or, where that changes nothing, say why in "+
			"tools/mutants/survivors.txt", stray)
	}
	return nil
}

// believable is an error if the tests of so many mutants were cut off that nothing is known about them. A few loop for
// ever; where most do, the machine is too slow for the time that gremlins gives them.
func (t tally) believable(pkg string) error {
	if t.killed == 0 || t.late > (t.killed+t.late)/5 {
		return fmt.Errorf("%d mutants of %s took too long: run it again beside less other work", t.late, pkg)
	}
	return nil
}

// unleash has gremlins test a package, and returns the mutants by file.
func unleash(pkg string) (map[string][]mutant, error) {
	out, err := os.CreateTemp("", "mutants-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	// The time for one mutant is that of the package's tests, which compiling is no part of, times the coefficient.
	cmd := exec.Command("go", "tool", "-modfile=tools/go.mod", "gremlins", "unleash", "--silent",
		"--timeout-coefficient", "60", "--output", out.Name(), "./"+pkg)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "GOFLAGS=-vet=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gremlins in %s: %w: %s", pkg, err, text)
	}
	var report struct {
		Files []struct {
			Name    string   `json:"file_name"`
			Mutants []mutant `json:"mutations"`
		}
	}
	if err := json.NewDecoder(out).Decode(&report); err != nil {
		return nil, fmt.Errorf("gremlins in %s: what it reports: %w", pkg, err)
	}
	files := map[string][]mutant{}
	for _, f := range report.Files {
		files[f.Name] = f.Mutants
	}
	return files, nil
}

// sum is which mutants of a package lived, by their names in survivors.txt, and what became of the others.
func sum(pkg string, files map[string][]mutant) (lived []string, t tally, err error) {
	for name, mutants := range files {
		source, err := os.ReadFile(filepath.Join("..", pkg, name))
		if err != nil {
			return nil, t, err
		}
		for _, m := range mutants {
			switch m.Status {
			case "LIVED":
				at, err := m.in(string(source))
				if err != nil {
					return nil, t, fmt.Errorf("%s: %w", name, err)
				}
				lived = append(lived, path.Join(pkg, name)+" "+at)
			case "TIMED OUT":
				t.late++
			case "NOT COVERED":
				t.bare++
			default:
				t.killed++
			}
		}
	}
	slices.Sort(lived)
	return lived, t, nil
}

// in names the mutant by its type and its line, with a mark before what is changed: such a name outlives changes
// elsewhere in the file.
func (m mutant) in(source string) (string, error) {
	lines := strings.Split(source, "\n")
	if m.Line < 1 || m.Line > len(lines) || m.Column < 1 || m.Column > len(lines[m.Line-1]) {
		return "", fmt.Errorf("there is no line %d with a column %d", m.Line, m.Column)
	}
	line := lines[m.Line-1]
	kind := strings.ToLower(strings.ReplaceAll(m.Type, "_", " "))
	return kind + ": " + strings.TrimSpace(line[:m.Column-1]+"▸"+line[m.Column-1:]), nil
}

// survivors are the reasons by the mutants that may live. Of each there is a line with its name, as sum has it, and
// below that, indented, lines with the reason, which may hold for several in a row. Lines with # are comments.
func survivors(text string) (map[string]string, error) {
	reasons := map[string]string{}
	var open []string // named since the last reason
	closed := true
	for i, line := range strings.Split(text, "\n") {
		indented := strings.HasPrefix(line, "\t")
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case !indented:
			if closed {
				open, closed = nil, false
			}
			open = append(open, line)
			reasons[line] = ""
		case len(open) == 0:
			return nil, fmt.Errorf("survivors.txt:%d: a reason for nothing", i+1)
		default:
			closed = true
			for _, name := range open {
				reasons[name] = strings.TrimSpace(reasons[name] + " " + line)
			}
		}
	}
	for name, reason := range reasons {
		if reason == "" {
			return nil, fmt.Errorf("survivors.txt: no reason why this may live: %s", name)
		}
	}
	return reasons, nil
}

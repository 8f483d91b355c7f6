package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promises is the list of what the documents promise.
const promises = "../../docs/PROMISES.md"

// A promise is an item of the list: its words, what was tried against it, and the tests that hold it.
type promise struct{ words, attack, tests string }

// readPromises are the items by the document that they are about. An item has its words, and below them what was tried
// and the tests; each may go over several lines.
func readPromises(t *testing.T) map[string][]promise {
	t.Helper()
	text, err := os.ReadFile(promises)
	if err != nil {
		t.Fatal(err)
	}
	list, document := make(map[string][]promise), ""
	var last *promise
	var part *string // of last, to which a further line belongs
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile(`^## .*\]\((.*)\)`).FindStringSubmatch(line); m != nil {
			document, part = filepath.Join(filepath.Dir(promises), m[1]), nil
			continue
		}
		rest := strings.TrimSpace(line)
		switch {
		case document == "" || rest == "":
			part = nil
			continue
		case strings.HasPrefix(line, "- "):
			list[document] = append(list[document], promise{})
			last = &list[document][len(list[document])-1]
			part, rest = &last.words, rest[len("- "):]
		case strings.HasPrefix(line, "  - attack: ") && part == &last.words:
			part, rest = &last.attack, rest[len("- attack: "):]
		case strings.HasPrefix(line, "  - test: ") && part == &last.attack:
			part, rest = &last.tests, rest[len("- test: "):]
		case !strings.HasPrefix(line, "  ") || strings.HasPrefix(rest, "- ") || part == nil:
			t.Fatalf("%s: a line that belongs to no promise, or not there: %s", promises, rest)
		}
		*part = strings.TrimSpace(*part + " " + rest)
	}
	return list
}

// A promise still stands in the document that is named, word for word; "…" is for what is left out.
func TestPromisesAreQuoted(t *testing.T) {
	list := readPromises(t)
	for _, document := range []string{"../../README.md", "../../docs/READERS.md", "../../docs/POLITENESS.md",
		"../../docs/PROTOCOL.md"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		words, seen := strings.Join(strings.Fields(string(text)), " "), make(map[string]bool)
		if len(list[document]) < 30 {
			t.Errorf("of %s there are %d promises only", document, len(list[document]))
		}
		for _, p := range list[document] {
			if seen[p.words] {
				t.Errorf("%s: %q stands there twice", document, p.words)
			}
			seen[p.words] = true
			rest := words
			for part := range strings.SplitSeq(p.words, "…") {
				_, after, ok := strings.Cut(rest, strings.TrimSpace(part))
				if !ok || strings.TrimSpace(part) == "" {
					t.Errorf("%s does not say %q (any more)", document, p.words)
					break
				}
				rest = after
			}
		}
	}
}

// Each promise is held by a test that there is: in the package that is named, or a script or a target of the Makefile.
func TestPromisesAreHeld(t *testing.T) {
	named := regexp.MustCompile("`(?:make ([a-z]+)|([a-z0-9/]+)\\.(Test\\w+)(?:/([a-z]+))?)`")
	declared := make(map[string]string) // the tests of a folder
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for document, list := range readPromises(t) {
		for _, p := range list {
			tests := named.FindAllStringSubmatch(p.tests, -1)
			if len(tests) == 0 || named.ReplaceAllString(p.tests, "") != strings.Repeat(", ", len(tests)-1) {
				t.Errorf("%s: %q is held by %q, which is no list of tests", document, p.words, p.tests)
			}
			if p.attack == "" {
				t.Errorf("%s: nothing was tried against %q", document, p.words)
			}
			for _, m := range tests {
				target, folder, name, script := m[1], m[2], m[3], m[4]
				if target != "" {
					if !regexp.MustCompile(`(?m)^` + target + `:`).Match(makefile) {
						t.Errorf("%s: %q is held by make %s, and there is no such target", document, p.words, target)
					}
					continue
				}
				if _, ok := declared[folder]; !ok {
					declared[folder] = testsIn(t, filepath.Join("../..", folder))
				}
				if !strings.Contains(declared[folder], "\nfunc "+name+"(t *testing.T)") {
					t.Errorf("%s: %q is held by %s of %s, and there is no such test", document, p.words, name, folder)
				}
				if script == "" {
					continue
				}
				if _, err := os.Stat(filepath.Join("../..", folder, "testdata", "script", script+".txt")); err != nil {
					t.Errorf("%s: %q is held by a script: %v", document, p.words, err)
				}
			}
		}
	}
}

// testsIn is the text of the tests in a folder.
func testsIn(t *testing.T, folder string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("\n" + string(text))
	}
	return all.String()
}

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"feedex/lab/experiment"
)

// Everything can be made in one go, and a run that is killed half way keeps what was done and makes the rest. The page
// then shows each figure that a paper states beside one that is there.
func TestLabAllIsResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes seconds: go test without it runs it")
	}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race",
		Value: "true"}) {
		t.Skip("the race detector makes many minutes of it: go test without -race runs it")
	}
	dir := t.TempDir()
	first := feedexProcess(t, "lab", "all", "--quick", "--out", dir)
	first.Stderr = nil
	log, err := first.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	const some = 4
	var kept []string
	for lines := bufio.NewScanner(log); len(kept) < some && lines.Scan(); {
		if name, ok := strings.CutSuffix(lines.Text(), " is done"); ok {
			kept = append(kept, name)
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil || first.ProcessState.Exited() || len(kept) < some {
		t.Fatalf("it was not killed but ended: %v, after %v", err, kept)
	}
	before := make(map[string]os.FileInfo)
	for _, name := range kept {
		if before[name], err = os.Stat(filepath.Join(dir, name, labDone)); err != nil {
			t.Fatal(err)
		}
	}

	second := feedexProcess(t, "lab", "all", "--quick", "--out", dir)
	second.Stderr = nil
	text, err := second.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, name := range kept {
		if strings.Contains(string(text), "\n"+name+" is done") {
			t.Errorf("%s was made again", name)
		}
		if after, err := os.Stat(filepath.Join(dir, name, labDone)); err != nil || !os.SameFile(before[name], after) {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	images := regexp.MustCompile(`<img [^>]*src="([^"]+)"`).FindAllStringSubmatch(string(page), -1)
	for _, m := range images {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("the page shows what is not there: %v", err)
		}
	}
	if pairs := len(experiment.StatedFigures()); len(images) < 2*pairs ||
		strings.Contains(string(page), "ot made yet") || strings.Contains(string(page), "nother version") {
		t.Errorf("%d images for %d figures of papers, and their runs:\n%s", len(images), pairs, page)
	}
	// Every figure of the evaluation is one of those that are made.
	for _, path := range evaluation(t) {
		shown := regexp.MustCompile(`\(\.\./figures/([\w-]+\.svg)\)`)
		for _, m := range shown.FindAllStringSubmatch(read(t, path), -1) {
			if found, err := filepath.Glob(filepath.Join(dir, "*", m[1])); err != nil || len(found) == 0 {
				t.Errorf("%s shows %s, which is not made", path, m[1])
			}
		}
	}
}

// What was made by another program or at another size is made again.
func TestLabAllKnowsItsOwn(t *testing.T) {
	a := labAll{dir: t.TempDir(), program: "one", quick: true, log: new(strings.Builder)}
	run, err := chosen(labRuns(), []string{"polling"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.run(t.Context(), run); err != nil || !a.done(run[0]) {
		t.Fatal(err)
	}
	other, full, listed := a, a, a
	other.program, full.quick, listed.lists = "two", false, "lists"
	if other.done(run[0]) || full.done(run[0]) {
		t.Error("another program's, or another size, counts")
	}
	if !listed.done(run[0]) {
		t.Error("lists make another of what takes none")
	}
	run, err = chosen(labRuns(), []string{"recommend"})
	if err != nil {
		t.Fatal(err)
	}
	const few = "list,feed\n1,a\n1,b\n1,c\n1,d\n1,e\n2,a\n2,b\n2,c\n2,d\n2,f\n"
	listed.lists = t.TempDir()
	if err := os.WriteFile(filepath.Join(listed.lists, "lists.csv"), []byte(few), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := listed.run(t.Context(), run); err != nil || !listed.done(run[0]) {
		t.Fatal(err)
	}
	if other = listed; a.done(run[0]) {
		t.Error("what was made with lists counts without")
	}
	if other.lists = t.TempDir(); other.done(run[0]) {
		t.Error("another folder of lists counts")
	}
	if _, err := chosen(labRuns(), []string{"poling"}); err == nil || !strings.Contains(err.Error(), "polling, ") {
		t.Errorf("a wrong name: %v", err)
	}
}

// Each command of the evaluation is one of those that are run for it.
func TestLabAllIsTheEvaluation(t *testing.T) {
	all := make(map[string]bool)
	for _, r := range labRuns() {
		if _, err := os.Stat("../../docs/evaluation/" + r.page + ".md"); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if r.minutes <= 0 {
			t.Errorf("%s takes no time", r.name)
		}
		for _, line := range slices.Concat(r.full, r.quick) {
			if err := checkCommandLine("lab " + line); err != nil {
				t.Errorf("%s: %s: %v", r.name, line, err)
			}
		}
		for _, line := range r.full {
			all[line] = true
		}
	}
	commands := 0
	left := strings.NewReplacer(" --svg docs/figures", "", " --lists FOLDER", "")
	for _, path := range evaluation(t) {
		for _, m := range regexp.MustCompile(`(?m)^    feedex lab ([^(\n]+)`).FindAllStringSubmatch(read(t, path), -1) {
			line := strings.TrimSpace(left.Replace(m[1]))
			commands++
			if !all[line] && !all[line+" --bound 10"] {
				t.Errorf("%s: feedex lab all does not run %q", path, line)
			}
		}
	}
	if commands < 15 {
		t.Errorf("%d commands only", commands)
	}
}

// The hashes of docs/evaluation are those that its commands print, by the tables in the folder that FEEDEX_NIGHTLY
// names.
func TestEvaluationIsOfThisProgram(t *testing.T) {
	a := labAll{dir: os.Getenv("FEEDEX_NIGHTLY")}
	if a.dir == "" {
		t.Skip("FEEDEX_NIGHTLY names no folder in which feedex lab all wrote: make nightly runs it")
	}
	printed := make(map[string]string) // by page
	for _, r := range labRuns() {
		if a.outcome(r) == nil {
			t.Errorf("%s is not made", r.name)
			continue
		}
		printed[r.page] += read(t, filepath.Join(a.dir, r.name, labTables))
	}
	for page, tables := range printed {
		for _, stale := range staleHashes(read(t, "../../docs/evaluation/"+page+".md"), tables) {
			t.Errorf("docs/evaluation/%s.md is stale: %s", page, stale)
		}
	}
}

// staleHashes are those of a page, of whole runs and of single networks, that its tables do not have as they are
// printed now, each with the command above it.
// A command that takes lists does not count where they were made up, nor one without where there were some.
func staleHashes(page, tables string) (stale []string) {
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(traces\s+)?\b([0-9a-f]{16})\b`).FindAllStringSubmatchIndex(page, -1) {
		if m[2] >= 0 { // of the traces that it read
			continue
		}
		hash, command := page[m[4]:m[5]], ""
		if above := regexp.MustCompile("feedex lab [^(`\n]+").FindAllString(page[:m[0]], -1); above != nil {
			command = strings.TrimSpace(above[len(above)-1])
		}
		if !seen[hash] && !strings.Contains(tables, hash) &&
			strings.Contains(command, "--lists") == strings.Contains(tables, "--lists") {
			stale = append(stale, hash+" of "+command)
		}
		seen[hash] = true
	}
	return stale
}

func TestStaleHashesAreFound(t *testing.T) {
	const page = "    feedex lab a --seed 1 (traces 00000000000000dd, trace hash 00000000000000aa)\n" +
		"    feedex lab b --lists X (trace hash 00000000000000bb)\n" +
		"by `feedex lab c` (trace\nhash 00000000000000cc); trace hash 00000000000000bb again"
	for tables, want := range map[string]string{
		"trace hash 00000000000000aa": "00000000000000cc of feedex lab c",
		"trace hash 00000000000000cc": "00000000000000aa of feedex lab a --seed 1",
		"b --lists X\n":               "00000000000000bb of feedex lab b --lists X",
		"":                            "00000000000000aa of feedex lab a --seed 1, 00000000000000cc of feedex lab c",
	} {
		if got := strings.Join(staleHashes(page, tables), ", "); got != want {
			t.Errorf("of tables %q stale are %s, want %s", tables, got, want)
		}
	}
}

// evaluation are the paths of the pages of the evaluation.
func evaluation(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/evaluation/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	return pages
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

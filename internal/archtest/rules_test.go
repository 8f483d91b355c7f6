package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mostRules is how many rules a node may follow. It only ever becomes less.
const mostRules = 80

// Each rule of docs/RULES.md names constants, tests and decisions that there are, and there are no more of them than
// there were.
func TestRules(t *testing.T) {
	text, err := os.ReadFile("../../docs/RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	declared, tests := declarations(t), make(map[string]string)
	rules := regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatchIndex(string(text), -1)
	switch {
	case len(rules) > mostRules:
		t.Errorf("%d rules, and %d are enough: say which one the new one replaces", len(rules), mostRules)
	case len(rules) < mostRules:
		t.Errorf("%d rules are left of %d: that many are enough from now on", len(rules), mostRules)
	}
	for i, at := range rules {
		end := len(text)
		if i+1 < len(rules) {
			end = rules[i+1][0]
		}
		rule := string(text[at[0]:end])
		if number := string(text[at[2]:at[3]]); number != strconv.Itoa(i+1) {
			t.Errorf("rule %d has the number %s", i+1, number)
		}
		shown := false
		for _, m := range regexp.MustCompile("`([a-z]+)\\.([A-Za-z_.0-9]+)`").FindAllStringSubmatch(rule, -1) {
			name := m[1] + "." + m[2]
			if !strings.HasPrefix(m[2], "Test") {
				if !declared[name] {
					t.Errorf("rule %d: there is no %s", i+1, name)
				}
				continue
			}
			shown = true
			folder := m[1]
			if folder == "exchange" || folder == "poller" {
				folder = filepath.Join("node", "internal", folder)
			}
			if _, ok := tests[folder]; !ok {
				tests[folder] = testsIn(t, filepath.Join("../..", folder))
			}
			if !strings.Contains(tests[folder], "\nfunc "+m[2]+"(t *testing.T)") {
				t.Errorf("rule %d: there is no test %s", i+1, name)
			}
		}
		decided := regexp.MustCompile(
			`ADR\s+(\d+)(?:,\s+(\d+))?(?:,\s+(\d+))?(?:\s+and\s+(\d+))?\.\s*(?:\n\n## .*\n\s*)?$`)
		decisions := decided.FindStringSubmatch(rule)
		if !shown || decisions == nil {
			t.Errorf("rule %d names no test, or no decision: %s", i+1, rule)
			continue
		}
		for _, number := range decisions[1:] {
			if number == "" {
				continue
			}
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			found, err := filepath.Glob(fmt.Sprintf("../../docs/adr/%04d-*.md", n))
			if err != nil || len(found) != 1 {
				t.Errorf("rule %d: there is no decision %d", i+1, n)
				continue
			}
			decision, err := os.ReadFile(found[0])
			if err != nil || strings.Contains(string(decision), "\nStatus: superseded") {
				t.Errorf("rule %d: decision %d does not hold any more (%v)", i+1, n, err)
			}
		}
	}
}

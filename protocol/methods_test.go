package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"feedex/protocol"
)

// TestMethodsAreDescribed holds the lists of methods to the limits, the decoder and the specification.
func TestMethodsAreDescribed(t *testing.T) {
	headings := ""
	for line := range strings.Lines(readFile(t, specPath)) {
		if strings.HasPrefix(line, "### ") {
			headings += line
		}
	}
	var names []string
	for _, m := range protocol.NodeMethods() {
		names = append(names, m.Name)
		if m.Help == "" || len(m.Signatures) == 0 {
			t.Errorf("%s is not described", m.Name)
		}
		for _, s := range m.Signatures {
			if !strings.HasPrefix(m.Name, "system.") && (len(s) < 2 || s[1] != "int") {
				t.Errorf("%s: signature %v does not begin with nid", m.Name, s)
			}
		}
		if m.Call != protocol.CallLimits(m.Name) || m.Answer != protocol.AnswerLimits(m.Name) {
			t.Errorf("%s: limits are %+v, %+v, want those of its name", m.Name, m.Call, m.Answer)
		}
		if !strings.Contains(headings, m.Name) {
			t.Errorf("%s has no heading in the specification", m.Name)
		}
	}
	shown := make(map[string]bool)
	for _, ex := range examples {
		shown[ex.call.Method()] = true
		if !slices.Contains(names, ex.call.Method()) {
			t.Errorf("%s is not listed", ex.call.Method())
		}
	}
	for _, name := range names {
		if !shown[name] && !strings.HasPrefix(name, "system.") {
			t.Errorf("%s has no example in the specification", name)
		}
	}
	for _, m := range protocol.TrackerMethods() {
		if !slices.Contains(names, m.Name) || m.Call != protocol.CallLimits(m.Name) {
			t.Errorf("%s of trackers is none of a node's methods", m.Name)
		}
	}
}

// TestLimits holds the bounds of bodies to the specification's table, and an unknown method to the smallest.
func TestLimits(t *testing.T) {
	type bounds struct{ bytes, values, depth int }
	small, list := bounds{4 << 10, 64, 8}, bounds{64 << 10, 4096, 8}
	subset, bundle, answer := bounds{4 << 20, 40_000, 8}, bounds{4 << 20, 65_536, 12}, bounds{1 << 20, 4096, 12}
	tests := []struct {
		name         string
		call, answer bounds
	}{
		{"get_neighbors", small, list},
		{"connect", subset, subset},
		{"update_subset", subset, small},
		{"check_did", small, small},
		{"check_dids", list, list},
		{"put_entries", bundle, small},
		{"query_feed", list, answer},
		{"get_entries", list, bundle},
		{"feedex.get_bundle", small, bundle},
		{"feedex.whoami", small, small},
		{"feedex.vouch", small, small},
		{"feedex.disconnect", small, small},
		{"feedex.account", small, small},
		{"feedex.polled", list, list},
		{"feedex.starred", list, list},
		{"system.listMethods", small, list},
		{"system.methodHelp", small, small},
		{"no_such_method", small, small},
		{"", small, small},
	}
	for _, tt := range tests {
		call, reply := protocol.CallLimits(tt.name), protocol.AnswerLimits(tt.name)
		if got := (bounds{call.Bytes, call.Values, call.Depth}); got != tt.call {
			t.Errorf("call of %q is bounded by %+v, want %+v", tt.name, got, tt.call)
		}
		if got := (bounds{reply.Bytes, reply.Values, reply.Depth}); got != tt.answer {
			t.Errorf("answer to %q is bounded by %+v, want %+v", tt.name, got, tt.answer)
		}
	}
}

package main

import (
	"slices"
	"testing"
)

func TestReaderHosts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reader address
		hosts  []ownName
		want   []string
	}{
		{"none", "127.0.0.1:7791", nil, nil},
		{"every address", ":7791", nil, nil},
		{"an IPv6 address", "[::1]:7791", nil, nil},
		{"named", "0.0.0.0:7791", []ownName{"nas.local", "nas"}, []string{"nas.local", "nas"}},
		{"the one listened at", "nas.example.org:7791", []ownName{"nas"}, []string{"nas", "nas.example.org"}},
	} {
		s := settings{Data: "here", Reader: tt.reader, ReaderHost: tt.hosts, Listen: ":7790"}
		if got := s.readerHosts(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

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

func TestReaderURL(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:7791":  "http://127.0.0.1:7791/",
		"[::]:7791":       "http://127.0.0.1:7791/",
		"0.0.0.0:7791":    "http://127.0.0.1:7791/",
		"192.0.2.1:80":    "http://192.0.2.1:80/",
		"[2001:db8::1]:1": "http://[2001:db8::1]:1/",
	} {
		if got := readerURL(addr); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

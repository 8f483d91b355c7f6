package main

import (
	"testing"
)

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

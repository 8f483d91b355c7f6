package protocol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"feedex/protocol"
	"feedex/xmlrpc"
)

// TestFaultTextIsBounded encodes faults whose texts hold what peers said, and reads them as a caller does.
func TestFaultTextIsBounded(t *testing.T) {
	const prefix = "bad bundle: "
	room := protocol.MaxLabelBytes - len(prefix)
	tests := []struct{ name, text, want string }{
		{"short", "entry 3 occurs twice", "entry 3 occurs twice"},
		{"at the limit", strings.Repeat("x", room), strings.Repeat("x", room)},
		{"too long", strings.Repeat("x", 1<<20), strings.Repeat("x", room)},
		{"between characters", strings.Repeat("é", room), strings.Repeat("é", room/2)},
		{"within a character", "x" + strings.Repeat("😀", room), "x" + strings.Repeat("😀", (room-1)/4)},
		{"references", strings.Repeat("&", 10_000), strings.Repeat("&", room)},
		{"control characters", "a\x00b\x1b[31mc\u0085", "ab[31mc"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wire := protocol.EncodeFault(nil, protocol.Faultf(protocol.BadBundle, "%s", tt.text))
			_, err := xmlrpc.DecodeResponse(wire, protocol.AnswerLimits("put_entries"))
			fault, ok := errors.AsType[*xmlrpc.Fault](err)
			if !ok || fault.Code != int(protocol.BadBundle) {
				t.Fatalf("got %v, want a fault %d", err, protocol.BadBundle)
			}
			if fault.String != prefix+tt.want || !utf8.ValidString(fault.String) {
				t.Errorf("text is %q, want %q", fault.String, prefix+tt.want)
			}
		})
	}
}

// TestCodesAreNamed holds the names of the codes to the specification's table.
func TestCodesAreNamed(t *testing.T) {
	spec := readFile(t, specPath)
	for _, c := range []protocol.Code{
		protocol.ParseError, protocol.UnknownMethod, protocol.InvalidParams, protocol.Internal,
		protocol.UnknownNeighbor,
		protocol.NotVouched, protocol.Unreachable, protocol.UnwantedFeed, protocol.BadBundle, protocol.BadDID,
		protocol.TooLong,
		protocol.Busy, protocol.Unavailable, protocol.BadSubset, protocol.Dropped,
		protocol.ForgedSource, protocol.AtBound, protocol.Spent, protocol.NotOffered, protocol.OverQuota,
	} {
		if row := fmt.Sprintf("| %d | %s |", c, c); !strings.Contains(spec, row) {
			t.Errorf("specification has no row %q", row)
		}
	}
	if got := protocol.Code(7).String(); got != "internal error" {
		t.Errorf("an unknown code is called %q", got)
	}
}

// TestAsFault shows that a cause of our own stays with us.
func TestAsFault(t *testing.T) {
	busy := protocol.Faultf(protocol.Busy, "too much at once")
	if got := protocol.AsFault(fmt.Errorf("serve call: %w", busy)); got != busy {
		t.Errorf("got %v, want the fault that is wrapped", got)
	}
	if got := protocol.AsFault(errors.New("open /home/ada/archive: disk full")); got.Code != protocol.Internal ||
		strings.Contains(got.Text, "ada") {
		t.Errorf("got %v, want an internal error without its cause", got)
	}
	// A peer's refusal of our call is no refusal of ours.
	remote := &protocol.RemoteError{Code: protocol.Busy, Text: "wait"}
	if got := protocol.AsFault(remote); got.Code != protocol.Internal {
		t.Errorf("got %v for %v, want an internal error", got, remote)
	}
}

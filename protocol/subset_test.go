package protocol_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// pair is one element of a subset on the wire.
func pair(u string, hops int64) xmlrpc.Array { return xmlrpc.Array{u, hops} }

// TestSubsetElements decodes elements as calls and an answer carry them: what makes no sense is left out and
// counted, the rest is used.
func TestSubsetElements(t *testing.T) {
	const a, b = "https://example.com/a", "https://example.com/b"
	tests := []struct {
		name     string
		elements xmlrpc.Array
		subset   protocol.Subset // of connect and its answer
		changes  protocol.Subset // of update_subset
	}{
		{"none", nil, protocol.Subset{}, protocol.Subset{}},
		{"good", xmlrpc.Array{pair(a, 0), pair(b, protocol.MaxHops)}, protocol.Subset{{a, 0}, {b, 16}},
			protocol.Subset{{a, 0}, {b, 16}}},
		{"withdrawn", xmlrpc.Array{pair(a, -1), pair(b, 1)}, protocol.Subset{{b, 1}},
			protocol.Subset{{a, protocol.Withdrawn}, {b, 1}}},
		{"hops out of range", xmlrpc.Array{pair(a, 17), pair(a, -2), pair(a, 1<<32), pair(b, 2)},
			protocol.Subset{{b, 2}}, protocol.Subset{{b, 2}}},
		{"named twice", xmlrpc.Array{pair(a, 1), pair(a, 1), pair(a, 2)}, protocol.Subset{{a, 1}},
			protocol.Subset{{a, 1}}},
		// Only an element that counts takes the name.
		{"wrong, then right", xmlrpc.Array{pair(a, 99), pair(a, 1)}, protocol.Subset{{a, 1}}, protocol.Subset{{a, 1}}},
		{"not a feed", xmlrpc.Array{pair("", 0), pair("example.com", 0), pair("ftp://example.com/", 0),
			pair("file:///etc/passwd", 0), pair(a+strings.Repeat("x", feed.MaxURLBytes), 0)},
			protocol.Subset{}, protocol.Subset{}},
		{"not in normal form", xmlrpc.Array{pair("HTTPS://example.com/a", 0),
			pair("https://example.com:443/a", 0), pair(a+"#top", 0), pair(" "+a, 0), pair("https://example.com", 0)},
			protocol.Subset{}, protocol.Subset{}},
		{"wrong types", xmlrpc.Array{a, int64(1), true, nil, xmlrpc.Struct{{Name: "url", Value: a}},
			xmlrpc.Array{int64(0), a}, xmlrpc.Array{a, "0"}, xmlrpc.Array{xmlrpc.Array{a}, int64(0)},
			xmlrpc.Array{a, 0.0}, pair(b, 0)},
			protocol.Subset{{b, 0}}, protocol.Subset{{b, 0}}},
		{"too short", xmlrpc.Array{xmlrpc.Array{}, xmlrpc.Array{a}, xmlrpc.Array{xmlrpc.Array{}}}, protocol.Subset{},
			protocol.Subset{}},
		{"grown", xmlrpc.Array{xmlrpc.Array{a, int64(1), "new"}}, protocol.Subset{{a, 1}}, protocol.Subset{{a, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := protocol.Connect{Subset: tt.subset, Ignored: len(tt.elements) - len(tt.subset)}
			got, err := decodeParams("connect", int64(7790), tt.elements)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("connect: got %+v, %v, want %+v", got, err, want)
			}
			wantUpdate := protocol.UpdateSubset{Changes: tt.changes, Ignored: len(tt.elements) - len(tt.changes)}
			got, err = decodeParams("update_subset", int64(7790), tt.elements)
			if err != nil || !reflect.DeepEqual(got, wantUpdate) {
				t.Errorf("update_subset: got %+v, %v, want %+v", got, err, wantUpdate)
			}
			reply, err := protocol.DecodeReply(protocol.Connect{}, tt.elements)
			var wantReply protocol.Reply = tt.subset
			if want.Ignored > 0 {
				wantReply = protocol.FlawedSubset{Subset: tt.subset, Ignored: want.Ignored}
			}
			if err != nil || !reflect.DeepEqual(reply, wantReply) {
				t.Errorf("answer to connect: got %+v, %v, want %+v", reply, err, wantReply)
			}
		})
	}
}

// decodeParams decodes a call of method with the params, the port first.
func decodeParams(method string, params ...xmlrpc.Value) (protocol.Call, error) {
	_, call, err := protocol.DecodeCall(xmlrpc.Call{Method: method, Params: params})
	return call, err
}

// TestSubsetSizes sends sets that are as large as they may be, and larger, as bytes: a flood is seen up to
// 12,000 elements and refused beyond that.
func TestSubsetSizes(t *testing.T) {
	const most = 12_000
	for _, n := range []int{protocol.MaxSubset, protocol.MaxSubset + 1, most, most + 1} {
		subset := make(protocol.Subset, n)
		for i := range subset {
			subset[i].Feed = feed.URL(fmt.Sprintf("https://example.com/%d?&%s", i, strings.Repeat("x", 100)))
		}
		for _, sent := range []protocol.Call{protocol.Connect{Subset: subset, Ignored: 7},
			protocol.UpdateSubset{Changes: subset, Ignored: 7}} {
			raw, err := xmlrpc.DecodeCall(protocol.EncodeCall(nil, 7790, sent), protocol.CallLimits(sent.Method()))
			if err != nil {
				t.Fatalf("%s of %d feeds: %v", sent.Method(), n, err)
			}
			_, call, err := protocol.DecodeCall(raw)
			var got protocol.Subset
			switch call := call.(type) {
			case protocol.Connect:
				got = call.Subset
			case protocol.UpdateSubset:
				got = call.Changes
			}
			checkSize(t, sent.Method(), n, most, len(got), err)
		}
		v, err := xmlrpc.DecodeResponse(protocol.EncodeReply(nil, subset), protocol.AnswerLimits("connect"))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := protocol.DecodeReply(protocol.Connect{}, v)
		got, _ := reply.(protocol.Subset)
		checkSize(t, "answer to connect", n, most, len(got), err)
	}
}

func checkSize(t *testing.T, what string, sent, most, got int, err error) {
	t.Helper()
	fault, refused := errors.AsType[*protocol.Fault](err)
	switch {
	case sent > most && (!refused || fault.Code != protocol.TooLong) && !errors.Is(err, protocol.ErrReply):
		t.Errorf("%s of %d feeds: got %d feeds, %v, want too long", what, sent, got, err)
	case sent <= most && (err != nil || got != sent):
		t.Errorf("%s of %d feeds: got %d feeds, %v", what, sent, got, err)
	}
}

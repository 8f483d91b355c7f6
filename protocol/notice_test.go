package protocol_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// notices draws what a call may tell of polls.
func notices() *rapid.Generator[[]protocol.Notice] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) protocol.Notice {
		n := protocol.Notice{Feed: feedURLs().Draw(t, "feed")}
		n.New = rapid.IntRange(protocol.Refused, 1000).Draw(t, "new")
		n.Age = time.Duration(rapid.IntRange(0, 24*3600).Draw(t, "age")) * time.Second
		for range rapid.IntRange(0, protocol.MaxPath).Draw(t, "hops") {
			n.Path = append(n.Path, mustNode("[2001:db8::9]:17790"))
		}
		if rapid.Bool().Draw(t, "signed") {
			n.Sign(callerKey, time.Unix(rapid.Int64Range(0, 1<<40-1).Draw(t, "at"), 0))
		}
		return n
	}), 1, protocol.MaxNotices)
}

// TestNoticesAreCarried sends notices by each of the calls that may hold them.
func TestNoticesAreCarried(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list, few []protocol.Notice // as many as a node sends at once, and as there is room for in check_did
		bytes := 0
		for _, n := range notices().Draw(t, "notices") {
			if bytes += n.WireBytes(); bytes <= protocol.MaxNoticeBytes {
				list = append(list, n)
			}
			if bytes <= 3<<10 {
				few = append(few, n)
			}
		}
		for _, c := range []protocol.Call{
			protocol.Notify{Notices: list},
			protocol.CheckDID{DID: exampleBundle.DID, Feed: exampleBundle.Feed, Notices: few},
			protocol.CheckDID{DID: exampleBundle.DID, Notices: few},
			protocol.CheckDIDs{DIDs: []protocol.DID{exampleBundle.DID}, Notices: list},
			protocol.PutEntries{Bundle: exampleBundle, Notices: list},
		} {
			raw, err := xmlrpc.DecodeCall(protocol.EncodeCall(nil, 7790, c), protocol.CallLimits(c.Method()))
			if err != nil {
				t.Fatalf("%s: %v", c.Method(), err)
			}
			_, got, err := protocol.DecodeCall(raw)
			if put, ok := got.(protocol.PutEntries); ok {
				put.Bundle.Identities()
			}
			if err != nil || !same(got, c) {
				t.Errorf("%s came over as %+v, %v\nwant %+v", c.Method(), got, err, c)
			}
		}
	})
}

// TestNoticesFitBesideABundle has the longest notices take no more than they say, which the longest bundle leaves.
func TestNoticesFitBesideABundle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := notices().Draw(t, "notices")
		bytes := 0
		for i := range list {
			bytes += list[i].WireBytes()
		}
		without := protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: exampleBundle})
		with := protocol.EncodeCall(nil, 7790, protocol.PutEntries{Bundle: exampleBundle, Notices: list})
		if took := len(with) - len(without); took > bytes+1<<10 {
			t.Errorf("notices take %d bytes, more than %d", took, bytes)
		}
	})
	longest := protocol.Notice{Age: 24 * time.Hour, New: math.MaxInt32, Path: make([]protocol.NodeID, protocol.MaxPath),
		Feed: feed.URL("https://example.com/?" + strings.Repeat("&", feed.MaxURLBytes-len("https://example.com/?")))}
	longest.Sign(callerKey, time.Unix(1<<40-1, 0))
	if longest.WireBytes() > protocol.MaxNoticeBytes {
		t.Errorf("a notice takes %d bytes, and would never be sent", longest.WireBytes())
	}
}

// TestNoticesThatMakeNoSense are left out, and so is what is beyond the limits: the rest of a call holds.
func TestNoticesThatMakeNoSense(t *testing.T) {
	const whole = "5 1 " + someURL
	key, signature := strings.Repeat("A", 42)+"E", strings.Repeat("A", 86)
	signed := whole + " 1790000000 " + key + " " + signature
	for name, tc := range map[string]struct {
		notice xmlrpc.Value
		kept   bool
	}{
		"as it should be":         {whole + " 192.0.2.9:7790", true},
		"a day old":               {"86400 1 " + someURL, true},
		"a path of sixteen":       {whole + strings.Repeat(" 192.0.2.9:7790", protocol.MaxPath), true},
		"no path":                 {whole, true},
		"an array":                {array{int64(5), int64(1), someURL}, false},
		"nothing":                 {"", false},
		"too short":               {"5 1", false},
		"two spaces":              {"5  1 " + someURL, false},
		"a space at the end":      {whole + " ", false},
		"feed a number":           {"5 1 1", false},
		"feed not in normal form": {"5 1 HTTP://example.com", false},
		"feed too long":           {whole + strings.Repeat("x", feed.MaxURLBytes), false},
		"feed that is a file":     {"5 1 file:///etc/passwd", false},
		"yet to come":             {"-1 1 " + someURL, false},
		"older than a day":        {"86401 1 " + someURL, false},
		"age a word":              {"five 1 " + someURL, false},
		"a refusal":               {"5 -1 " + someURL, true},
		"fewer than a refusal":    {"5 -2 " + someURL, false},
		"too many entries":        {"5 2147483648 " + someURL, false},
		"path too long":           {whole + strings.Repeat(" 192.0.2.9:7790", protocol.MaxPath+1), false},
		"path of names":           {whole + " example.com:7790", false},
		"signed":                  {signed, true},
		"signed, with a path":     {signed + strings.Repeat(" 192.0.2.9:7790", protocol.MaxPath), true},
		"signed, path too long":   {signed + strings.Repeat(" 192.0.2.9:7790", protocol.MaxPath+1), false},
		"signed at no time":       {whole + " now " + key + " " + signature, false},
		"signed too late":         {whole + " 1099511627776 " + key + " " + signature, false},
		"signed by nobody":        {whole + " 1790000000 " + strings.Repeat("A", 43) + " " + signature, false},
		"signed by a long key":    {whole + " 1790000000 A" + key + " " + signature, false},
		"signed at a long time":   {whole + " 01790000000 " + key + " " + signature, false},
		"key over two lines":      {whole + " 1790000000 " + key + "\n " + signature, false},
		"age with a zero":         {"05 1 " + someURL, false},
		"entries with a sign":     {"5 +1 " + someURL, false},
		"signature cut off":       {signed[:len(signed)-1], false},
		"time and key alone":      {whole + " 1790000000 " + key, false},
	} {
		raw := xmlrpc.Call{Method: "feedex.polled", Params: array{int64(7790), array{whole, tc.notice}}}
		want := 1
		if tc.kept {
			want = 2
		}
		if _, call, err := protocol.DecodeCall(raw); err != nil || len(call.(protocol.Notify).Notices) != want {
			t.Errorf("%s: %+v, %v; want %d notices", name, call, err, want)
		}
	}
}

// TestWhatIsSigned is the feed, what the poll brought, the time and the key; who passes it on says the rest.
func TestWhatIsSigned(t *testing.T) {
	if n := exampleNotice; !n.Verify() {
		t.Error("a signed notice does not verify")
	}
	var none protocol.Notice
	if none.Sign(nil, time.Unix(0, 0)); none.Signed() || none.Verify() {
		t.Error("a notice is signed without a key")
	}
	for name, alter := range map[string]func(n *protocol.Notice){
		"feed":    func(n *protocol.Notice) { n.Feed += "s" },
		"entries": func(n *protocol.Notice) { n.New = protocol.Refused },
		"time":    func(n *protocol.Notice) { n.Signature.At++ },
		"key":     func(n *protocol.Notice) { n.Signature.Key = protocol.NodeKeyOf(calledKey) },
	} {
		n := exampleNotice
		if alter(&n); n.Verify() {
			t.Errorf("with another %s it verifies", name)
		}
	}
	n := exampleNotice
	if n.Age, n.Path = time.Hour, nil; !n.Verify() {
		t.Error("with another age or path it does not verify")
	}
}

func TestOriginOfANotice(t *testing.T) {
	sender := mustNode("192.0.2.1:7790")
	own, passedOn := protocol.Notice{}, exampleNotice
	if own.Origin(sender) != sender || passedOn.Origin(sender) != mustNode("192.0.2.9:7790") {
		t.Errorf("polled by %s and %s", own.Origin(sender), passedOn.Origin(sender))
	}
}

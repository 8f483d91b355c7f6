package protocol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// Shorthand for values as they come out of a message.
type (
	array     = xmlrpc.Array
	structure = xmlrpc.Struct
)

const (
	someDID = "2847202f64a0d18d7e816f35b854642262fd186d"
	someURL = "https://example.com/feed"
)

// with is a struct of the good members, some of them replaced or added: names and values in turn.
func with(good structure, changes ...any) structure {
	s := append(structure(nil), good...)
	for i := 0; i < len(changes); i += 2 {
		s = append(s, xmlrpc.Member{Name: changes[i].(string), Value: changes[i+1]}) // the last one counts
	}
	return s
}

// without is s without the named member.
func without(s structure, name string) (rest structure) {
	for _, m := range s {
		if m.Name != name {
			rest = append(rest, m)
		}
	}
	return rest
}

// times is a list of n values.
func times(n int, v xmlrpc.Value) array {
	list := make(array, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// stars is a statement of stars with these feeds.
func stars(feeds any) structure { return structure{{Name: "feeds", Value: feeds}} }

// starred are so many feeds with as many stars each as one may have.
func starred(feeds int) (list array) {
	for i := range feeds {
		list = append(list, append(array{fmt.Sprintf("%s/%d", someURL, i)}, times(protocol.MaxFeedStars, someDID)...))
	}
	return list
}

// checkRefused checks that err is a fault with that code whose text begins by naming what was wrong.
func checkRefused(t *testing.T, err error, code protocol.Code, about string) {
	t.Helper()
	fault, ok := errors.AsType[*protocol.Fault](err)
	switch {
	case !ok:
		t.Errorf("got %v, want a fault", err)
	case fault.Code != code || !strings.HasPrefix(fault.Text, about):
		t.Errorf("got %v, want %s about %s", err, code, about)
	}
}

var (
	goodEntry  = structure{{Name: "id", Value: "1"}}
	goodBundle = structure{{Name: "did", Value: someDID}, {Name: "feed", Value: someURL},
		{Name: "path", Value: array{"192.0.2.7:7790"}}, {Name: "entries", Value: array{goodEntry}}}
	goodFound = structure{{Name: "id", Value: someDID}, {Name: "digest", Value: someDID},
		{Name: "feed", Value: someURL}, {Name: "title", Value: "t"}, {Name: "link", Value: someURL},
		{Name: "seen", Value: int64(1790000000)}}
)

// entryWith is a bundle with one entry, whose members are as good ones but for the changes.
func entryWith(changes ...any) structure {
	return with(goodBundle, "entries", array{with(goodEntry, changes...)})
}

// TestMalformedCalls decodes calls with values of the wrong type, missing ones, and ones out of range. The
// port is good but for the first table.
func TestMalformedCalls(t *testing.T) {
	const invalid, long = protocol.InvalidParams, protocol.TooLong
	label := strings.Repeat("x", protocol.MaxLabelBytes+1)
	tests := []struct {
		method, name string
		params       array
		code         protocol.Code
		about        string
	}{
		{"connect", "no subset", nil, invalid, "subset: missing"},
		{"connect", "string", array{someURL}, invalid, "subset"},
		{"connect", "struct", array{structure{}}, invalid, "subset"},
		{"connect", "nil", array{nil}, invalid, "subset"},
		{"update_subset", "no changes", nil, invalid, "changes: missing"},
		{"update_subset", "int", array{int64(1)}, invalid, "changes"},

		{"check_did", "no did", nil, invalid, "did: missing"},
		{"check_did", "int", array{int64(1)}, invalid, "did"},
		{"check_did", "array", array{array{someDID}}, invalid, "did"},
		{"check_did", "short", array{someDID[1:]}, invalid, "did"},
		{"check_did", "long", array{someDID + "0"}, long, "did"},
		{"check_did", "not hexadecimal", array{"g" + someDID[1:]}, invalid, "did"},

		{"check_dids", "no dids", nil, invalid, "dids: missing"},
		{"check_dids", "string", array{someDID}, invalid, "dids"},
		{"check_dids", "too many", array{times(protocol.MaxDIDs+1, someDID)}, long, "dids"},
		{"check_dids", "int among them", array{array{someDID, int64(1)}}, invalid, "dids"},
		{"check_dids", "nested", array{array{array{someDID}}}, invalid, "dids"},
		{"check_dids", "short one", array{array{someDID, "ab"}}, invalid, "dids"},

		{"feedex.polled", "no notices", nil, invalid, "notices: missing"},
		{"feedex.polled", "struct", array{structure{}}, invalid, "notices"},
		{"feedex.polled", "too many", array{times(protocol.MaxNotices+1, array{})}, long, "notices"},

		{"feedex.starred", "no stars", nil, invalid, "stars: missing"},
		{"feedex.starred", "array", array{array{}}, invalid, "stars: want a struct"},
		{"feedex.starred", "feeds a string", array{stars(someURL)}, invalid, "stars.feeds"},
		{"feedex.starred", "feed a string", array{stars(array{someURL})}, invalid, "stars.feeds"},
		{"feedex.starred", "no feed", array{stars(array{array{}})}, invalid, "stars.feeds"},
		{"feedex.starred", "not in normal form", array{stars(array{array{"HTTPS://example.com/feed"}})}, invalid,
			"stars.feeds"},
		{"feedex.starred", "a feed twice", array{stars(array{array{someURL}, array{someURL}})}, invalid, "stars.feeds"},
		{"feedex.starred", "short entry", array{stars(array{array{someURL, "ab"}})}, invalid, "stars.feeds"},
		{"feedex.starred", "entry an int", array{stars(array{array{someURL, int64(1)}})}, invalid, "stars.feeds"},
		{"feedex.starred", "too many feeds", array{stars(times(protocol.MaxStarFeeds+1, array{someURL}))}, long,
			"stars.feeds"},
		{"feedex.starred", "too many stars",
			array{stars(array{append(array{someURL}, times(protocol.MaxFeedStars+1, someDID)...)})}, long,
			"stars.feeds"},
		{"feedex.starred", "too many stars in all", array{stars(starred(protocol.MaxStars/protocol.MaxFeedStars + 1))},
			long, "stars.feeds"},
		{"feedex.starred", "entries behind labels",
			array{stars(array{array{someURL, array{"x", someDID}, someDID}})}, invalid, "stars.feeds"},
		{"feedex.starred", "a label without entries", array{stars(array{array{someURL, array{"x"}}})}, invalid,
			"stars.feeds"},
		{"feedex.starred", "a label without a name", array{stars(array{array{someURL, array{"", someDID}}})}, invalid,
			"stars.feeds"},
		{"feedex.starred", "a label of two lines", array{stars(array{array{someURL, array{"x\ny", someDID}}})}, invalid,
			"stars.feeds"},
		{"feedex.starred", "a long label", array{stars(array{array{someURL, array{label[:protocol.MaxSharedLabel+1],
			someDID}}})}, invalid, "stars.feeds"},
		{"feedex.starred", "a label twice",
			array{stars(array{array{someURL, array{"x", someDID}, array{"x", someDID}}})}, invalid, "stars.feeds"},
		{"feedex.starred", "too many labels", array{stars(array{array{someURL,
			append(array{"x"}, times(protocol.MaxFeedStars, someDID)...), array{"y", someDID}}})}, long, "stars.feeds"},
		{"feedex.starred", "long signature", array{with(stars(array{}), "signature", strings.Repeat("A", 87))}, long,
			"stars.signature"},

		{"put_entries", "no bundle", nil, invalid, "bundle: missing"},
		{"put_entries", "array", array{array{goodBundle}}, invalid, "bundle: want a struct"},
		{"put_entries", "string", array{someDID}, invalid, "bundle: want a struct"},
		{"put_entries", "empty", array{structure{}}, invalid, "bundle.feed: missing"},
		{"put_entries", "no feed", array{without(goodBundle, "feed")}, invalid, "bundle.feed: missing"},
		{"put_entries", "feed empty", array{with(goodBundle, "feed", "")}, invalid, "bundle.feed: missing"},
		{"put_entries", "feed an int", array{with(goodBundle, "feed", int64(1))}, invalid, "bundle.feed"},
		{"put_entries", "feed not in normal form", array{with(goodBundle, "feed", "HTTP://example.com")}, invalid,
			"bundle.feed"},
		{"put_entries", "feed too long", array{with(goodBundle, "feed", someURL+strings.Repeat("x", feed.MaxURLBytes))},
			long, "bundle.feed"},
		{"put_entries", "no did", array{without(goodBundle, "did")}, invalid, "bundle.did"},
		{"put_entries", "did an int", array{with(goodBundle, "did", int64(1))}, invalid, "bundle.did"},
		{"put_entries", "did not hexadecimal", array{with(goodBundle, "did", "g"+someDID[1:])}, invalid, "bundle.did"},
		{"put_entries", "did too long", array{with(goodBundle, "did", someDID+"0")}, long, "bundle.did"},
		{"put_entries", "no path", array{without(goodBundle, "path")}, invalid, "bundle.path: missing"},
		{"put_entries", "path nil", array{with(goodBundle, "path", nil)}, invalid, "bundle.path: missing"},
		{"put_entries", "path a string", array{with(goodBundle, "path", "192.0.2.7:7790")}, invalid, "bundle.path"},
		{"put_entries", "path of ints", array{with(goodBundle, "path", array{int64(1)})}, invalid, "bundle.path"},
		{"put_entries", "path of names", array{with(goodBundle, "path", array{"example.com:7790"})}, invalid,
			"bundle.path"},
		{"put_entries", "path without port", array{with(goodBundle, "path", array{"192.0.2.7"})}, invalid,
			"bundle.path"},
		{"put_entries", "path with port 0", array{with(goodBundle, "path", array{"192.0.2.7:0"})}, invalid,
			"bundle.path"},
		{"put_entries", "path too long", array{with(goodBundle, "path", times(protocol.MaxPath+1, "192.0.2.7:7790"))},
			long, "bundle.path"},
		{"put_entries", "entries a struct", array{with(goodBundle, "entries", goodEntry)}, invalid, "bundle.entries"},
		{"put_entries", "entries of strings", array{with(goodBundle, "entries", array{"1"})}, invalid,
			"bundle.entries"},
		{"put_entries", "entries nested", array{with(goodBundle, "entries", array{goodEntry, array{goodEntry}})},
			invalid, "bundle.entries"},
		{"put_entries", "too many entries",
			array{with(goodBundle, "entries", times(protocol.MaxBundleEntries+1, goodEntry))}, long, "bundle.entries"},
		{"put_entries", "id an int", array{entryWith("id", int64(1))}, invalid, "entry.id"},
		{"put_entries", "id too long", array{entryWith("id", strings.Repeat("x", protocol.MaxIDBytes+1))},
			long, "entry.id"},
		{"put_entries", "title bytes", array{entryWith("title", []byte("x"))}, invalid, "entry.title"},
		{"put_entries", "title too long", array{entryWith("title", strings.Repeat("x", protocol.MaxTitleBytes+1))},
			long, "entry.title"},
		{"put_entries", "link a struct", array{entryWith("link", structure{})}, invalid, "entry.link"},
		{"put_entries", "link too long", array{entryWith("link", strings.Repeat("x", feed.MaxURLBytes+1))}, long,
			"entry.link"},
		{"put_entries", "content an array", array{entryWith("content", array{"x"})}, invalid, "entry.content"},
		{"put_entries", "content too long", array{entryWith("content", strings.Repeat("x", protocol.MaxTextBytes+1))},
			long, "entry.content"},
		{"put_entries", "authors a string", array{entryWith("authors", "Ada")}, invalid, "entry.authors"},
		{"put_entries", "authors nested", array{entryWith("authors", array{array{"Ada"}})}, invalid, "entry.authors"},
		{"put_entries", "too many authors", array{entryWith("authors", times(protocol.MaxAuthors+1, "Ada"))}, long,
			"entry.authors"},
		{"put_entries", "categories of ints", array{entryWith("categories", array{int64(1)})}, invalid,
			"entry.categories"},
		{"put_entries", "too many categories", array{entryWith("categories", times(protocol.MaxCategories+1, "news"))},
			long, "entry.categories"},
		{"put_entries", "published a string", array{entryWith("published", "1790000000")}, invalid, "entry.published"},
		{"put_entries", "published a date", array{entryWith("published", xmlrpc.DateTime("20260921T14:13:20"))},
			invalid, "entry.published"},
		{"put_entries", "published in the year 10000", array{entryWith("published", int64(253_402_300_800))}, invalid,
			"entry.published"},
		{"put_entries", "updated before the year 1", array{entryWith("updated", int64(-62_135_596_800))}, invalid,
			"entry.updated"},
		{"put_entries", "rights a string", array{entryWith("rights", "all")}, invalid, "entry.rights"},
		{"put_entries", "too many rights", array{entryWith("rights", times(protocol.MaxRights+1, "all"))}, long,
			"entry.rights"},
		{"put_entries", "source a string", array{entryWith("source", someURL)}, invalid, "entry.source"},
		{"put_entries", "title of source an int",
			array{entryWith("source", structure{{Name: "title", Value: int64(1)}})}, invalid, "source.title"},
		{"put_entries", "url of source too long",
			array{entryWith("source", structure{{Name: "url", Value: strings.Repeat("x", feed.MaxURLBytes+1)}})}, long,
			"source.url"},
		{"put_entries", "enclosures a struct", array{entryWith("enclosures", structure{})}, invalid,
			"entry.enclosures"},
		{"put_entries", "enclosures of strings", array{entryWith("enclosures", array{someURL})}, invalid,
			"entry.enclosures"},
		{"put_entries", "too many enclosures",
			array{entryWith("enclosures", times(protocol.MaxEnclosures+1, structure{}))}, long, "entry.enclosures"},
		{"put_entries", "url of enclosure an int",
			array{entryWith("enclosures", array{structure{{Name: "url", Value: int64(1)}}})}, invalid, "enclosure.url"},
		{"put_entries", "type of enclosure too long",
			array{entryWith("enclosures", array{structure{{Name: "type", Value: label}}})}, long, "enclosure.type"},
		{"put_entries", "length of enclosure negative",
			array{entryWith("enclosures", array{structure{{Name: "length", Value: int64(-1)}}})}, invalid,
			"enclosure.length"},
		{"put_entries", "length of enclosure a double",
			array{entryWith("enclosures", array{structure{{Name: "length", Value: 1.5}}})}, invalid,
			"enclosure.length"},

		{"query_feed", "no query", nil, invalid, "query: missing"},
		{"query_feed", "array", array{array{}}, invalid, "query: want a struct"},
		{"query_feed", "id too long",
			array{structure{{Name: "id", Value: strings.Repeat("x", protocol.MaxSessionBytes+1)}}}, long, "query.id"},
		{"query_feed", "hops too many", array{structure{{Name: "hops", Value: int64(6)}}}, invalid, "query.hops"},
		{"query_feed", "budget too large", array{structure{{Name: "budget", Value: int64(257)}}}, invalid,
			"query.budget"},
		{"query_feed", "order an int", array{structure{{Name: "order", Value: int64(1)}}}, invalid, "query.order"},
		{"query_feed", "wait too long", array{structure{{Name: "wait", Value: int64(60_001)}}}, invalid, "query.wait"},
		{"query_feed", "feed a boolean", array{structure{{Name: "feed", Value: true}}}, invalid, "query.feed"},
		{"query_feed", "words a string", array{structure{{Name: "words", Value: "hello"}}}, invalid, "query.words"},
		{"query_feed", "words of ints", array{structure{{Name: "words", Value: array{int64(1)}}}}, invalid,
			"query.words"},
		{"query_feed", "too many words", array{structure{{Name: "words", Value: times(33, "a")}}}, long, "query.words"},
		{"query_feed", "word too long", array{structure{{Name: "words", Value: array{label}}}}, long, "query.words"},
		{"query_feed", "title nested", array{structure{{Name: "title", Value: array{array{"a"}}}}}, invalid,
			"query.title"},
		{"query_feed", "title word too long", array{structure{{Name: "title", Value: array{label}}}}, long,
			"query.title"},
		{"query_feed", "match an array", array{structure{{Name: "match", Value: array{"a"}}}}, invalid, "query.match"},
		{"query_feed", "match that does not end", array{structure{{Name: "match", Value: "a OR (b"}}}, invalid,
			"query.match: column 6"},
		{"query_feed", "match too long", array{structure{{Name: "match", Value: strings.Repeat("a", 1025)}}}, long,
			"query.match"},
		{"query_feed", "match too deep", array{structure{{Name: "match", Value: strings.Repeat("NOT ", 200) + "a"}}},
			invalid, "query.match: column 65"},
		{"query_feed", "too many words with any ending",
			array{structure{{Name: "words", Value: array{"a*", "b*"}}, {Name: "title", Value: array{"c*"}},
				{Name: "match", Value: "d* OR NOT e*"}}}, invalid, "query.words"},
		{"query_feed", "limit negative", array{structure{{Name: "limit", Value: int64(-1)}}}, invalid, "query.limit"},
		{"query_feed", "since a string", array{structure{{Name: "since", Value: "yesterday"}}}, invalid, "query.since"},
		{"query_feed", "until in the year 10000", array{structure{{Name: "until", Value: int64(253_402_300_800)}}},
			invalid, "query.until"},
		{"query_feed", "ids of ints", array{structure{{Name: "ids", Value: array{int64(1)}}}}, invalid, "query.ids"},
		{"query_feed", "ids not hexadecimal", array{structure{{Name: "ids", Value: array{"g" + someDID[1:]}}}}, invalid,
			"query.ids"},
		{"feedex.get_bundle", "no did", nil, invalid, "did: missing"},
		{"feedex.get_bundle", "did not hexadecimal", array{"g" + someDID[1:]}, invalid, "did"},
		{"get_entries", "no ids", nil, invalid, "ids: missing"},
		{"get_entries", "too many ids", array{times(protocol.MaxBatch+1, someDID)}, long, "ids"},
		{"get_entries", "ids not hexadecimal", array{array{"g" + someDID[1:]}}, invalid, "ids"},
		{"query_feed", "too many ids", array{structure{{Name: "ids", Value: times(201, someDID)}}}, long, "query.ids"},

		{"feedex.vouch", "no token", nil, invalid, "session: missing"},
		{"feedex.vouch", "int", array{int64(1)}, invalid, "session"},
		{"feedex.vouch", "too long", array{strings.Repeat("x", protocol.MaxSessionBytes+1)}, long, "session"},
		{"feedex.account", "no account", nil, invalid, "account: missing"},
		{"feedex.account", "a list", array{array{int64(1)}}, invalid, "account"},

		{"no_such_method", "unknown", nil, protocol.UnknownMethod, `no method "no_such_method"`},
		{"", "no name", nil, protocol.UnknownMethod, `no method ""`},
		{strings.Repeat("x", 200), "long name", nil, protocol.UnknownMethod,
			`no method "` + strings.Repeat("x", 64) + `"`},
	}
	for _, tt := range tests {
		t.Run(tt.method+"/"+tt.name, func(t *testing.T) {
			nid, call, err := protocol.DecodeCall(xmlrpc.Call{Method: tt.method,
				Params: append(array{int64(7790)}, tt.params...)})
			checkRefused(t, err, tt.code, tt.about)
			if nid != 0 || call != nil {
				t.Errorf("got %d, %v beside the fault", nid, call)
			}
		})
	}
}

// TestMalformedPorts calls each method without a port, and with what is none.
func TestMalformedPorts(t *testing.T) {
	for _, m := range protocol.NodeMethods() {
		if strings.HasPrefix(m.Name, "system.") {
			continue
		}
		_, _, err := protocol.DecodeCall(xmlrpc.Call{Method: m.Name})
		checkRefused(t, err, protocol.InvalidParams, "nid: missing")
		for _, port := range []xmlrpc.Value{int64(0), int64(1023), int64(65_536), int64(-7790), int64(7790 + 1<<32),
			"7790", 7790.0, true, nil, array{int64(7790)}, structure{}} {
			_, _, err := protocol.DecodeCall(xmlrpc.Call{Method: m.Name, Params: array{port, array{}}})
			checkRefused(t, err, protocol.InvalidParams, "nid: want an int")
		}
	}
}

// TestForgivenCalls decodes calls that hold more than this version knows, or hints of no use.
func TestForgivenCalls(t *testing.T) {
	did, _ := protocol.ParseDID(someDID)
	tests := []struct {
		name, method string
		params       array
		want         protocol.Call
	}{
		{"more parameters", "get_neighbors", array{"more", structure{}}, protocol.GetNeighbors{}},
		{"hint missing", "check_did", array{someDID}, protocol.CheckDID{DID: did}},
		{"hint of another type", "check_did", array{someDID, "hint"}, protocol.CheckDID{DID: did}},
		{"feed of hint an int", "check_did", array{someDID, structure{{Name: "feed", Value: int64(1)}}},
			protocol.CheckDID{DID: did}},
		{"feed of hint not in normal form", "check_did", array{someDID, structure{{Name: "feed", Value: "HTTP://a"}}},
			protocol.CheckDID{DID: did}},
		{"notices a string", "check_did",
			array{someDID, structure{{Name: "feed", Value: someURL}, {Name: "polled", Value: someURL}}},
			protocol.CheckDID{DID: did, Feed: someURL}},
		{"notices an int", "check_dids", array{array{someDID}, structure{{Name: "polled", Value: int64(1)}}},
			protocol.CheckDIDs{DIDs: []protocol.DID{did}}},
		{"too many notices", "check_dids", array{array{someDID}, structure{{Name: "polled",
			Value: times(protocol.MaxNotices+1, "0 0 "+someURL)}}}, protocol.CheckDIDs{DIDs: []protocol.DID{did}}},
		{"time to come, and more than a century", "connect", array{array{}, structure{{Name: "away", Value: int64(-1)},
			{Name: "away", Value: int64(1) << 40}, {Name: "reverse", Value: "yes"}}},
			protocol.Connect{Subset: protocol.Subset{}}},
		{"more digests than ids", "get_entries",
			array{array{someDID}, structure{{Name: "digests", Value: times(2, someDID)}}},
			protocol.GetEntries{Wanted: []protocol.Wanted{{ID: feed.EntryID(did)}}}},
		{"digests that are none", "get_entries",
			array{array{someDID, someDID, someDID}, structure{{Name: "digests", Value: array{"x", int64(1), someDID}}}},
			protocol.GetEntries{Wanted: []protocol.Wanted{{ID: feed.EntryID(did)}, {ID: feed.EntryID(did)},
				{ID: feed.EntryID(did), Digest: feed.Digest(did)}}}},
		{"askers that are no nodes", "get_entries", array{array{someDID}, structure{{Name: "askers",
			Value: array{"example.com:7790", int64(1), "192.0.2.1:7790", "[fe80::1%eth0]:7790"}}}},
			protocol.GetEntries{Wanted: []protocol.Wanted{{ID: feed.EntryID(did)}},
				Askers: []protocol.NodeID{mustNode("192.0.2.1:7790")}}},
		{"no reason", "feedex.disconnect", nil, protocol.Disconnect{}},
		{"reason an array", "feedex.disconnect", array{array{"bye"}}, protocol.Disconnect{}},
		{"reason too long and unclean", "feedex.disconnect",
			array{"a\x7f" + strings.Repeat("x", protocol.MaxLabelBytes)},
			protocol.Disconnect{Reason: "a" + strings.Repeat("x", protocol.MaxLabelBytes-1)}},
		{"feed of an entry", "put_entries", array{entryWith("feed", "https://example.com/another", "summary", nil)},
			protocol.PutEntries{Bundle: &protocol.Bundle{DID: did, Feed: someURL,
				Path: []protocol.NodeID{mustNode("192.0.2.7:7790")}, Entries: []feed.Entry{{Feed: someURL, ID: "1"}}}}},
		{"hint with members of tomorrow", "check_did",
			array{someDID, structure{{Name: "feed", Value: someURL}, {Name: "size", Value: true}}},
			protocol.CheckDID{DID: did, Feed: someURL}},
		{"upper case", "check_did", array{strings.ToUpper(someDID)}, protocol.CheckDID{DID: did}},
		{"empty query", "query_feed", array{structure{}}, protocol.QueryFeed{}},
		{"limit beyond ours", "query_feed", array{structure{{Name: "limit", Value: int64(1_000_000)}}},
			protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Limit: protocol.MaxAnswerEntries}}}},
		{"order of tomorrow", "query_feed", array{structure{{Name: "order", Value: "random"}}}, protocol.QueryFeed{}},
		{"any version", "get_entries", array{array{someDID}},
			protocol.GetEntries{Wanted: []protocol.Wanted{{ID: feed.EntryID(did)}}}},
		{"digests of some", "get_entries",
			array{array{someDID, someDID}, structure{{Name: "digests", Value: array{someDID}}}},
			protocol.GetEntries{Wanted: []protocol.Wanted{{ID: feed.EntryID(did), Digest: feed.Digest(did)},
				{ID: feed.EntryID(did)}}}},
		{"no nid", "system.listMethods", nil, protocol.ListMethods{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeParams(tt.method, append(array{int64(7790)}, tt.params...)...)
			if err != nil || !same(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// TestMalformedReplies decodes answers that no peer that keeps to the protocol gives.
func TestMalformedReplies(t *testing.T) {
	label := strings.Repeat("x", protocol.MaxLabelBytes+1)
	found := func(changes ...any) structure {
		return structure{{Name: "found", Value: array{with(goodFound, changes...)}}}
	}
	tests := []struct {
		call  protocol.Call
		name  string
		value xmlrpc.Value
		about string
	}{
		{protocol.UpdateSubset{}, "another word", "OK", "answer"},
		{protocol.PutEntries{}, "nothing", nil, "answer"},
		{protocol.PutEntries{}, "true", true, "answer"},
		{protocol.Disconnect{}, "array", array{"ok"}, "answer"},
		{protocol.Disconnect{}, "long", label, "answer"},
		{protocol.CheckDID{}, "another word", "new", "answer"},
		{protocol.CheckDID{}, "true", true, "answer"},
		{protocol.CheckDID{}, "array", array{"seen"}, "answer"},
		{protocol.CheckDIDs{}, "word", "seen", "answer"},
		{protocol.CheckDIDs{}, "another word", array{"seen", "Seen"}, "answer"},
		{protocol.CheckDIDs{}, "nested", array{array{"seen"}}, "answer"},
		{protocol.CheckDIDs{}, "struct in it", array{structure{}}, "answer"},
		{protocol.CheckDIDs{}, "too many", times(protocol.MaxDIDs+1, "seen"), "answer"},
		{protocol.Connect{}, "struct", structure{}, "answer"},
		{protocol.Connect{}, "nothing", nil, "answer"},
		{protocol.GetNeighbors{}, "string", "192.0.2.7:7790", "answer"},
		{protocol.GetNeighbors{}, "flood", times(501, structure{}), "answer"},
		{protocol.GetEntries{}, "array", array{}, "answer: want a struct"},
		{protocol.GetEntries{}, "strings", structure{{Name: "entries", Value: array{someURL}}}, "answer.entries"},
		{protocol.GetEntries{}, "too many",
			structure{{Name: "entries", Value: times(protocol.MaxBatch+1, structure{})}}, "answer.entries"},
		{protocol.GetEntries{}, "no feed",
			structure{{Name: "entries", Value: array{structure{{Name: "title", Value: "T"}}}}}, "entry.feed"},
		{protocol.GetEntries{}, "left below zero", structure{{Name: "left", Value: int64(-1)}}, "answer.left"},
		{protocol.QueryFeed{}, "array", array{}, "answer: want a struct"},
		{protocol.QueryFeed{}, "partial a word", structure{{Name: "partial", Value: "yes"}}, "answer.partial"},
		{protocol.QueryFeed{}, "found a struct", structure{{Name: "found", Value: goodFound}}, "answer.found"},
		{protocol.QueryFeed{}, "found of strings", structure{{Name: "found", Value: array{someURL}}}, "answer.found"},
		{protocol.QueryFeed{}, "too many",
			structure{{Name: "found", Value: times(protocol.MaxAnswerEntries+1, goodFound)}}, "answer.found"},
		{protocol.QueryFeed{}, "id missing",
			structure{{Name: "found", Value: array{without(goodFound, "id")}}}, "found.id"},
		{protocol.QueryFeed{}, "digest missing", structure{{Name: "found", Value: array{without(goodFound, "digest")}}},
			"found.digest"},
		{protocol.QueryFeed{}, "id not hexadecimal", found("id", "g"+someDID[1:]), "found.id"},
		{protocol.QueryFeed{}, "digest an int", found("digest", int64(1)), "found.digest"},
		{protocol.QueryFeed{}, "feed not in normal form", found("feed", "example.com"), "found.feed"},
		{protocol.QueryFeed{}, "title too long", found("title", strings.Repeat("x", protocol.MaxTitleBytes+1)),
			"found.title"},
		{protocol.QueryFeed{}, "link an int", found("link", int64(1)), "found.link"},
		{protocol.QueryFeed{}, "seen a string", found("seen", "now"), "found.seen"},
		{protocol.QueryFeed{}, "published too late", found("published", int64(1)<<60), "found.published"},
		{protocol.QueryFeed{}, "updated a string", found("updated", "now"), "found.updated"},
		{protocol.QueryFeed{}, "holder a name", found("holders", array{"example.com:7790"}), "found.holders"},
		{protocol.QueryFeed{}, "holders of ints", found("holders", array{int64(1)}), "found.holders"},
		{protocol.QueryFeed{}, "holders without end", found("holders", times(protocol.MaxHolders+1, "192.0.2.7:7790")),
			"found.holders"},
		{protocol.QueryFeed{}, "more left than there ever was", structure{{Name: "left", Value: int64(257)}},
			"answer.left"},
		{protocol.QueryFeed{}, "cut a word", structure{{Name: "cut", Value: "time"}}, "answer.cut"},
		{protocol.WhoAmI{}, "int", int64(7790), "answer"},
		{protocol.WhoAmI{}, "name", "example.com:7790", "answer"},
		{protocol.WhoAmI{}, "empty", "", "answer"},
		{protocol.WhoAmI{}, "long", label, "answer"},
		{protocol.Vouch{}, "word", "true", "answer"},
		{protocol.Vouch{}, "int", int64(1), "answer"},
		{protocol.Vouch{}, "a proof that is no text", structure{{Name: "proof", Value: int64(1)}}, "answer.proof"},
		{protocol.Vouch{}, "nothing", nil, "answer"},
		{protocol.ListMethods{}, "struct", structure{}, "answer"},
		{protocol.ListMethods{}, "flood", times(1001, "connect"), "answer"},
	}
	for _, tt := range tests {
		t.Run(tt.call.Method()+"/"+tt.name, func(t *testing.T) {
			reply, err := protocol.DecodeReply(tt.call, tt.value)
			about := protocol.ErrReply.Error() + ": " + tt.about
			if !errors.Is(err, protocol.ErrReply) || !strings.HasPrefix(err.Error(), about) || reply != nil {
				t.Errorf("got %v, %v, want an error about %s", reply, err, tt.about)
			}
		})
	}
}

// TestForgivenReplies decodes answers of which a part is of use.
func TestForgivenReplies(t *testing.T) {
	node := func(ip, port any) structure { return structure{{Name: "ip", Value: ip}, {Name: "port", Value: port}} }
	tests := []struct {
		call  protocol.Call
		name  string
		value xmlrpc.Value
		want  protocol.Reply
	}{
		{protocol.GetNeighbors{}, "what is no node", array{
			"192.0.2.1:7790", structure{}, node("example.com", int64(7790)), node("192.0.2.1", "7790"),
			node(int64(1), int64(7790)),
			node("192.0.2.1", int64(1023)), node("192.0.2.1", int64(65_536)), node("::", int64(7790)),
			node("::%eth0", int64(7790)),
			node("::ffff:192.0.2.2", int64(7790)),
		}, protocol.NodeList{mustNode("192.0.2.2:7790")}},
		{protocol.GetNeighbors{}, "more than asked for", times(60, node("192.0.2.1", int64(7790))),
			func() (list protocol.NodeList) {
				for range protocol.MaxNeighborList {
					list = append(list, mustNode("192.0.2.1:7790"))
				}
				return list
			}()},
		{protocol.ListMethods{}, "what is no name", array{"connect", int64(1), array{"x"}, strings.Repeat("x", 300),
			"check_dids"}, protocol.Methods{"connect", "check_dids"}},
		{protocol.QueryFeed{}, "empty", structure{}, protocol.Answer{}},
		{protocol.QueryFeed{}, "what is not clean",
			structure{{Name: "found", Value: array{with(goodFound, "title", "a\x7fb", "link", someURL+"\u0085")}}},
			protocol.Answer{Found: []protocol.Found{{ID: entryID(someDID), Digest: feed.Digest(entryID(someDID)),
				Feed: someURL, Title: "ab", Link: someURL, Seen: time.Unix(1790000000, 0).UTC()}}}},
		{protocol.QueryFeed{}, "held by a neighbor",
			structure{{Name: "found",
				Value: array{structure{{Name: "id", Value: someDID}, {Name: "digest", Value: someDID},
					{Name: "holders", Value: array{"192.0.2.7:7790"}}}}}},
			protocol.Answer{Found: []protocol.Found{{ID: entryID(someDID), Digest: feed.Digest(entryID(someDID)),
				Holders: []protocol.NodeID{mustNode("192.0.2.7:7790")}}}}},
		{protocol.QueryFeed{}, "partial for no reason", structure{{Name: "partial", Value: true}},
			protocol.Answer{Cut: protocol.CutLimit}},
		{protocol.QueryFeed{}, "partial for a reason of tomorrow",
			structure{{Name: "partial", Value: true}, {Name: "cut", Value: array{"moon", "time"}}},
			protocol.Answer{Cut: protocol.CutTime}},
	}
	for _, tt := range tests {
		t.Run(tt.call.Method()+"/"+tt.name, func(t *testing.T) {
			got, err := protocol.DecodeReply(tt.call, tt.value)
			if err != nil || !same(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func entryID(hex string) feed.EntryID {
	id, err := feed.ParseEntryID(hex)
	if err != nil {
		panic(err)
	}
	return id
}

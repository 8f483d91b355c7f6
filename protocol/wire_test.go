package protocol_test

import (
	"testing"
	"time"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// TestEveryMemberIsCarried sends calls and answers with members that the specification's examples leave out.
func TestEveryMemberIsCarried(t *testing.T) {
	id := exampleEntry.EntryID()
	tests := []struct {
		name  string
		call  protocol.Call
		reply protocol.Reply
	}{
		{"query", protocol.QueryFeed{Query: protocol.Query{
			ID: "q1", Hops: 3, Budget: 64, Wait: 1500 * time.Millisecond,
			Filter: feed.Filter{
				Feed: "https://example.com/feed", Words: []string{"hello", "big world*"}, Title: []string{"Q & A"},
				Since: time.Unix(-1, 0).UTC(), Until: time.Unix(1790000000, 0).UTC(), IDs: []feed.EntryID{id, {1}},
				Limit: 200, Relevance: true,
			},
		}}, protocol.Answer{Cut: protocol.CutLimit | protocol.CutTime | protocol.CutHops | protocol.CutBudget |
			protocol.CutRefused, Left: 7, Found: []protocol.Found{
			{ID: id, Digest: exampleEntry.Digest(), Feed: exampleEntry.Feed, Title: "<b>&</b>\n",
				Link: "https://example.com/?a&b", Published: time.Unix(0, 0).UTC(),
				Updated: time.Unix(1790000100, 0).UTC(), Seen: time.Unix(1790000300, 0).UTC(),
				Holders: []protocol.NodeID{{}, mustNode("[2001:db8::9]:7790")}},
			{ID: feed.EntryID{1}, Seen: time.Unix(1790000200, 0).UTC()},
		}}},
		{"the latest by time",
			protocol.QueryFeed{Query: protocol.Query{Filter: feed.Filter{Feed: "https://example.com/feed",
				Dated: true}}},
			protocol.Answer{Cut: protocol.CutLimit, CompleteSince: time.Unix(1790000301, 0).UTC()}},
		{"whole entries", protocol.GetEntries{Wanted: []protocol.Wanted{{ID: id},
			{ID: fullEntry.EntryID(), Digest: fullEntry.Digest()}}},
			protocol.Batch{Entries: []protocol.Archived{{Entry: archivedEntry, Seen: time.Unix(1790000300, 0).UTC()},
				{Entry: exampleEntry}}}},
		{"no entries", protocol.GetEntries{Wanted: []protocol.Wanted{}}, protocol.Batch{Left: protocol.MaxBatch}},
		{"offer without hint", protocol.CheckDID{DID: exampleBundle.DID}, protocol.Seen(true)},
		{"no dids", protocol.CheckDIDs{DIDs: []protocol.DID{}}, protocol.SeenList{}},
		{"back after hours", protocol.Connect{Subset: protocol.Subset{{Feed: "https://example.com/feed"}},
			Away: 5 * time.Hour}, protocol.Subset{}},
		{"declined", protocol.Connect{Subset: protocol.Subset{}}, protocol.Subset{}},
		{"nobody", protocol.GetNeighbors{}, protocol.NodeList{}},
		{"no token", protocol.Vouch{}, protocol.Vouched(false)},
		{"back after hours, with a key", protocol.Connect{Subset: protocol.Subset{}, Away: time.Hour,
			Key: protocol.NodeKeyOf(callerKey), Challenge: callerChallenge}, protocol.Subset{}},
		{"a key that is not shown in answer", protocol.Vouch{Key: protocol.NodeKeyOf(calledKey),
			Challenge: calledChallenge}, protocol.Vouched(true)},
		{"methods", protocol.ListMethods{}, protocol.Methods{"connect", "system.listMethods"}},
		{"outside address", protocol.WhoAmI{}, mustNode("[2001:db8::7]:7790")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := xmlrpc.DecodeCall(protocol.EncodeCall(nil, 7790, tt.call),
				protocol.CallLimits(tt.call.Method()))
			if err != nil {
				t.Fatal(err)
			}
			if _, got, err := protocol.DecodeCall(raw); err != nil || !same(got, tt.call) {
				t.Errorf("call came over as %+v, %v\nwant %+v", got, err, tt.call)
			}
			v, err := xmlrpc.DecodeResponse(protocol.EncodeReply(nil, tt.reply),
				protocol.AnswerLimits(tt.call.Method()))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := protocol.DecodeReply(tt.call, v); err != nil || !same(got, tt.reply) {
				t.Errorf("answer came over as %+v, %v\nwant %+v", got, err, tt.reply)
			}
		})
	}
}

// TestUnknownTypesPanic shows that what is neither a call nor a reply is a mistake of the program.
func TestUnknownTypesPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"call":             func() { protocol.EncodeCall(nil, 7790, stranger{}) },
		"reply":            func() { protocol.EncodeReply(nil, stranger{}) },
		"answer to a call": func() { protocol.DecodeReply(stranger{}, "ok") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of unknown type was taken", name)
				}
			}()
			f()
		}()
	}
}

// stranger looks like a call and is none.
type stranger struct{}

func (stranger) Method() string { return "get_neighbors" }

package incentive_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"feedex/feed"
	"feedex/incentive"
	"feedex/protocol"
)

var start = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// peer is the holder of the account of the node id.
func peer(id string) incentive.Holder {
	n, err := protocol.ParseNodeID(id)
	if err != nil {
		panic(err)
	}
	return incentive.HolderOf(n)
}

// A stranger may have one entry. Its gifts open its account, up to the bound.
func ExampleLedger() {
	ledger, err := incentive.NewLedger(incentive.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := peer("20.0.0.1:7790")
	show := func(what string) {
		a := ledger.Account(h)
		fmt.Printf("%s: gave %v, got %v, deficit %v of %v, may have %v\n",
			what, a.Given, a.Got, a.Deficit, ledger.Limit(h), ledger.Allowance(h))
	}
	show("stranger")
	ledger.Gave(start, h, incentive.Value(1, 0))
	show("had its entry")
	ledger.Got(start, h, incentive.Value(6, 1)) // six entries of a feed one hop away
	show("gave")
	ledger.Got(start, h, incentive.Value(30, 0))
	show("gave much")
	ledger.Punish(start, h, incentive.BrokenPromise, incentive.Value(1, 0))
	show("broke a promise")
	// Output:
	// stranger: gave 0, got 0, deficit 0 of 1, may have 1
	// had its entry: gave 1, got 0, deficit 1 of 1, may have 0
	// gave: gave 1, got 3, deficit -2 of 4, may have 6
	// gave much: gave 1, got 33, deficit -10 of 10, may have 20
	// broke a promise: gave 1, got 33, deficit 65 of 10, may have 0
}

// A neighbor that misbehaves loses its standing, and is refused once nothing is left of it.
func ExampleLedger_Punish() {
	ledger, _ := incentive.NewLedger(incentive.Config{})
	h := peer("20.0.0.1:7790")
	for i, o := range []incentive.Offence{incentive.UnwantedFeed, incentive.WrongDID, incentive.MalformedBundle,
		incentive.WrongDID} {
		at := start.Add(time.Duration(i) * time.Hour)
		ended := ledger.Punish(at, h, o, incentive.Entry)
		a := ledger.Account(h)
		fmt.Printf("%s: %d points left, ended %v\n", o, a.Standing.Points(at), ended)
	}
	fmt.Println("refused until", ledger.Account(h).Standing.Refused)
	// Output:
	// unwanted feed: 98 points left, ended false
	// wrong did: 64 points left, ended false
	// malformed bundle: 30 points left, ended false
	// wrong did: 0 points left, ended true
	// refused until 2026-01-06 11:00:00 +0000 UTC
}

// A neighbor offers what we have from an own poll already. The offer earns as much as a delivery, once.
func ExampleEarnings() {
	const u feed.URL = "https://news.example.com/feed"
	ledger, _ := incentive.NewLedger(incentive.Config{})
	rng := rand.New(rand.NewPCG(1, 2))
	earnings := incentive.NewEarnings(incentive.DefaultRules())

	b := protocol.NewBundle(u, []feed.Entry{{Feed: u, ID: "1", Published: start}, {Feed: u, ID: "2", Published: start}})
	earnings.Stored(start, b, b.Entries, incentive.Holder{})

	h := peer("20.0.0.1:7790")
	ledger.Got(start, h, incentive.Value(10, 0)) // no stranger, whose first offer is audited
	for range 2 {
		_, entries := earnings.Offered(start, h, b.DID)
		value := incentive.Value(entries, 0) // our own feed: no hops
		switch {
		case value == 0:
			fmt.Println("seen")
		case ledger.Audit(rng, h):
			fmt.Println("unseen, deliver it")
		default:
			ledger.Got(start, h, value)
			fmt.Println("seen, earned", value)
		}
	}
	// Output:
	// seen, earned 2
	// seen
}

func ExampleHolderOf() {
	for _, id := range []string{"20.0.0.1:7790", "20.0.0.1:8000", "[2a00:1450::7]:7790", "127.0.0.1:7790"} {
		fmt.Println(id, "is held by", peer(id))
	}
	// Output:
	// 20.0.0.1:7790 is held by 20.0.0.1
	// 20.0.0.1:8000 is held by 20.0.0.1
	// [2a00:1450::7]:7790 is held by 2a00:1450::/64
	// 127.0.0.1:7790 is held by 127.0.0.1:7790
}

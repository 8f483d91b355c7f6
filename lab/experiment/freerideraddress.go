package experiment

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"feedex/archive"
	"feedex/incentive"
	"feedex/lab"
	"feedex/lab/actor"
	"feedex/lab/report"
	"feedex/node"
	"feedex/protocol"
)

// Some networks of FreeRiders are about many who share one address, behind a router that lets nobody in.

const (
	// keysOfOne is how many keys one machine has, one after the other.
	keysOfOne = 200
	// homesOfOne is how many honest nodes are at the address of a forger, where that many can be.
	homesOfOne = 20
)

// oneAddress is the address that is shared.
var oneAddress = netip.AddrFrom4([4]byte{carrierNetwork, 0, 1, 9})

// An AddressOutcome is what came of those behind one address.
type AddressOutcome struct {
	Keys     int     `json:"keys"`     // of the dishonest
	Most     float64 `json:"most"`     // entries that one node gave all there beyond what they gave
	Given    float64 `json:"given"`    // the same, of all nodes together
	Accounts int     `json:"accounts"` // that one node keeps of them at most
	Homes    int     `json:"homes"`    // honest nodes there
	Before   int     `json:"before"`   // their links, when the forger begins
	After    int     `json:"after"`    // and at the end
	Ended    int     `json:"ended"`    // of these links, for a breach of the rules
	Forger   [2]int  `json:"forger"`   // links of the forger then and at the end
}

// A sharing is a crowd of which some share one address. It is prepared, gathered and begun, and has an outcome then.
type sharing struct {
	crowd
	AddressOutcome
	homes  map[int]bool // by member
	forger protocol.NodeID
}

// oneMachine is a crowd with a free rider behind the address that comes back keysOfOne times, under another key each
// time or always under its own.
func (c crowd) oneMachine(fresh bool) *sharing {
	s := &sharing{crowd: c}
	s.Bad, s.Kind = 1, kind{
		member: func(_ *lab.World, m *lab.MemberConfig) {
			m.NoPolls, m.Behind, m.Node.Undialled = true, oneAddress, true
		},
		act: func(_ int, n *node.Node, _ *rand.Rand) actor.Participant {
			if fresh || s.Keys == 0 {
				s.Keys++
			}
			return actor.FreeRider(n)
		},
		joined: comingBack(c.Length/keysOfOne, fresh),
	}
	return s
}

// twentyHomes is a crowd with a forger behind the address at which honest nodes are. All there have been neighbors of
// the others for a month.
func (c crowd) twentyHomes() *sharing {
	s := &sharing{crowd: c, homes: make(map[int]bool)}
	s.Bad, s.Kind, s.Keys = 1, forgers(padsAnHour, c.Start.Add(c.Length/4)), 1
	for i, is := range s.divide() {
		if is != bad && len(s.homes) < min(homesOfOne, (c.Nodes-1)/2) {
			s.homes[i] = true
		}
	}
	s.Homes = len(s.homes)
	s.Tune = func(i int, is class, m *lab.MemberConfig) {
		if is == bad || s.homes[i] {
			m.Behind = oneAddress
		}
	}
	s.Watch = told(func(i int, isBad bool, note node.Note) {
		if peer, ok := dismissed(note); ok && !isBad && !s.homes[i] && peer.Hosted() && peer != s.forger {
			s.Ended++
		}
	})
	return s
}

// begin has the accounts be those of a month, and counts links.
func (s *sharing) begin(g *gathering) {
	if s.Homes == 0 {
		return
	}
	g.w.At(s.Start.Add(joinWithin), func() {
		s.forger = g.hosts[slices.Index(g.class, bad)].ID
		for _, h := range g.honest() {
			if h.Unreachable() {
				continue
			}
			for _, other := range g.hosts {
				if other.Unreachable() {
					h.Archive().KeepAccount(accountOfAMonth(other, g.w.Now()))
				}
			}
			h.Stop()
			comeBack(h)
		}
	})
	g.w.At(s.Start.Add(s.Length/4), func() { s.Before, s.Forger[0] = s.links(g) })
}

// accountOfAMonth is that of a host that gave twenty entries within a month.
func accountOfAMonth(h *lab.Host, now time.Time) archive.KeptAccount {
	key := h.Node().Status().Key.String()
	holder, err := incentive.ParseHolder(key)
	if err != nil {
		panic(err) // every host has a key
	}
	text, err := json.Marshal(incentive.Account{Holder: holder, At: h.ID, Got: 20 * incentive.Entry, Met: now,
		Since: now.Add(-30 * 24 * time.Hour)})
	if err != nil {
		panic(err)
	}
	return archive.KeptAccount{Holder: key, Text: text}
}

// links are how many links those behind the address have: the honest, and the forger.
func (s *sharing) links(g *gathering) (homes, forger int) {
	for i, h := range g.hosts {
		switch {
		case h == nil: // interrupted before it joined
		case g.class[i] == bad:
			forger = len(h.Node().Neighbors())
		case s.homes[i]:
			homes += len(h.Node().Neighbors())
		}
	}
	return homes, forger
}

// outcome is what came of them.
func (s *sharing) outcome(g *gathering) *AddressOutcome {
	for _, h := range g.honest() {
		if !h.Unreachable() {
			taken, accounts := accountsAt(h, oneAddress)
			s.Most, s.Accounts = max(s.Most, taken.Entries()), max(s.Accounts, accounts)
			s.Given += taken.Entries()
		}
	}
	s.After, s.Forger[1] = s.links(g)
	return &s.AddressOutcome
}

// addressTables show the networks in which one machine has an address for itself, and the one of the homes.
func addressTables(rows []CrowdRow) []report.Table {
	keys := report.Table{Title: "A free rider that comes back 200 times, at one address", Columns: []string{
		"network", "keys", "it has", "from one node, at most", "from all", "accounts", "hash"}, Notes: []string{
		"From one node: entries that one gave all keys there beyond what they gave. Accounts: that one keeps of them " +
			"at most.",
	}}
	homes := report.Table{Title: "Honest nodes and a forger at one address, neighbors of others for a month",
		Columns: []string{"network", "honest", "links before", "links after", "ended", "forger before", "after",
			"hash"},
		Notes: []string{"Before: when the forger begins, at a quarter of the time. Ended: links of the honest that " +
			"others ended for a breach of the rules."}}
	for _, r := range rows {
		if a := r.Address; a.Homes == 0 {
			keys.Row(r.title(), a.Keys, report.Percent(r.Groups[bad].Coverage), a.Most, a.Given, a.Accounts, r.Hash)
		} else {
			homes.Row(r.title(), a.Homes, a.Before, a.After, a.Ended, a.Forger[0], a.Forger[1], r.Hash)
		}
	}
	return []report.Table{keys, homes}
}

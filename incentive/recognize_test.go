package incentive

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"
	"time"

	"feedex/protocol"
)

// nodeKey is the i-th key. Nothing is signed with it.
func nodeKey(i int) protocol.NodeKey { return protocol.NodeKey{1, byte(i >> 8), byte(i)} }

// behind is the i-th node at one address.
func behind(i int) protocol.NodeID { return protocol.NewNodeID(node(1).Addr(), uint16(10_000+i)) }

// A keyed node is one that proves a key and that the tests serve.
type keyed struct {
	l               *Ledger
	id              protocol.NodeID
	key             protocol.NodeKey
	given, got, net Credit
}

func meetKey(l *Ledger, at time.Time, id protocol.NodeID, k protocol.NodeKey) *keyed {
	l.Proved(at, id, k)
	return &keyed{l: l, id: id, key: k}
}

// takes has the node served as far as its account allows, and returns how much that was.
func (k *keyed) takes(at time.Time) (taken Credit) {
	for h := k.l.HolderOf(k.id); k.l.Allowance(h) >= Entry; taken += Entry {
		k.l.Gave(at, h, Entry)
		k.given, k.net = k.given+Entry, k.l.Net(k.net, Entry)
	}
	return taken
}

// gives has the node earn, and recognizes it where that is enough.
func (k *keyed) gives(at time.Time, v Credit) {
	k.l.Got(at, k.l.HolderOf(k.id), v)
	k.got, k.net = k.got+v, k.l.Net(k.net, -v)
	k.l.Recognize(at, k.id, k.key, k.given, k.got, k.net)
}

// trades has the node give as much and take what it can, and returns how much that was.
func (k *keyed) trades(at time.Time, v Credit) (taken Credit) {
	k.gives(at, v)
	return k.takes(at)
}

// However many keys are made at an address, together they get what one stranger gets, and from then on what they give
// and a quarter of that.
func TestKeysOfAnAddressShareTheCreditOfOneStranger(t *testing.T) {
	l := newLedger(Config{})
	var got, given Credit
	var list []*keyed
	for i := range 200 {
		k := meetKey(l, now, behind(i), nodeKey(i))
		list = append(list, k)
		got += k.takes(now)
	}
	if got != Entry {
		t.Errorf("200 keys that give nothing got %v, one stranger gets %v", got, Entry)
	}
	for round := range 20 { // each gives an entry and takes what it can, then others come under new keys
		for i, k := range list {
			given += Entry
			got += k.trades(now, Entry)
			list[i] = meetKey(l, now, behind(i), nodeKey(200*(round+1)+i))
			got += list[i].takes(now)
		}
	}
	if most := given + given/keyPart + Value(defaultBound, 0); got > most {
		t.Errorf("keys that change after each entry gave %v and got %v, more than that and what one node may owe",
			given, got)
	}
	if others := meetKey(l, now, node(2), nodeKey(9999)).takes(now); others != Entry {
		t.Errorf("a stranger elsewhere got %v", others)
	}
}

// A key that gave keeps its account over a restart, another port and another address, and leaves nothing to who comes
// after it.
func TestAKeyTakesItsAccountAlong(t *testing.T) {
	l := newLedger(Config{})
	k := meetKey(l, now, behind(1), nodeKey(1))
	k.gives(now, 4*Entry)
	h := l.HolderOf(behind(1))
	if h.String() != nodeKey(1).String() || l.Limit(h) != 4*Entry || l.Allowance(h) != 8*Entry {
		t.Fatalf("the account of %v allows %v", h, l.Allowance(h))
	}
	if a := l.Limit(l.At(h)); a != Entry {
		t.Errorf("its address may have %v after it, want what a stranger may", a)
	}
	text, err := json.Marshal(l.Accounts())
	var kept []Account
	if err != nil || json.Unmarshal(text, &kept) != nil {
		t.Fatalf("accounts %s: %v", text, err)
	}
	l = newLedger(Config{})
	l.Load(now, kept)
	if got := l.HolderOf(behind(1)); got != h {
		t.Errorf("after a restart the account at %v is of %v", behind(1), got)
	}
	l.Proved(now, node(7), nodeKey(1))
	if got := l.HolderOf(node(7)); got != h || l.Allowance(got) != 8*Entry {
		t.Errorf("at another address it has the account of %v, which allows %v", got, l.Allowance(got))
	}
	if got := l.HolderOf(behind(1)); got != HolderOf(behind(1)) {
		t.Errorf("who comes to its old address has the account of %v", got)
	}
	l.Proved(now, node(7), nodeKey(2))
	if got := l.HolderOf(node(7)); got != HolderOf(node(7)) || l.Claimed(node(7), nodeKey(1)) != h {
		t.Errorf("another key at its address has the account of %v", got)
	}
	local := protocol.NewNodeID(netip.MustParseAddr("192.168.1.7"), 7790)
	if l.Proved(now, local, nodeKey(1)); l.HolderOf(local) != HolderOf(local) {
		t.Error("a key holds an account on a local network")
	}
}

// Who breaks the rules under a key is refused, and so is his next key at that address; keys there that gave for a week
// are not.
func TestWhatAKeyDoesIsNoMatterForSettledOnesBesideIt(t *testing.T) {
	l, later := newLedger(Config{}), now.Add(settledAfter)
	for i := range 20 {
		meetKey(l, now, behind(i), nodeKey(i)).gives(now, proven)
	}
	meetKey(l, later, behind(20), nodeKey(20)).gives(later, proven)
	forger := meetKey(l, later, behind(21), nodeKey(21))
	forger.gives(later, proven)
	if !l.Punish(later, l.HolderOf(forger.id), ForgedEntry, 0) {
		t.Fatal("the forger is not refused")
	}
	for i := range 20 {
		h := l.HolderOf(behind(i))
		if l.RefusedAt(later, behind(i), h) || !l.Settled(later, h) ||
			l.Allowance(h) < proven {
			t.Errorf("the settled key %d may have %v", i, l.Allowance(h))
		}
	}
	young, next := meetKey(l, later, behind(20), nodeKey(20)), meetKey(l, later, behind(30), nodeKey(30))
	for _, k := range []*keyed{forger, young, next} {
		week := later.Add(forgerForgotten)
		if h := l.HolderOf(k.id); !l.RefusedAt(week.Add(-time.Second), k.id, h) || l.RefusedAt(week, k.id, h) {
			t.Errorf("%v is not refused for a week", k.id)
		}
	}
	if l.RefusedAt(later, node(9), l.HolderOf(young.id)) {
		t.Error("a key that kept to the rules is refused elsewhere")
	}
	if l.RefusedAt(later, node(2), l.HolderOf(node(2))) {
		t.Error("a stranger elsewhere is refused")
	}
}

// Where several settled keys are, strangers have the credit of one more for each three of them.
func TestSettledKeysSpeakForTheirAddress(t *testing.T) {
	l, later := newLedger(Config{}), now.Add(settledAfter)
	for i := range 7 {
		meetKey(l, now, behind(i), nodeKey(i)).gives(now, proven)
	}
	l.Expire(later)
	if got := meetKey(l, later, behind(50), nodeKey(50)).takes(later); got != 2*Entry {
		t.Errorf("a stranger beside 7 settled keys got %v, want %v", got, 2*Entry)
	}
	for range 10 { // how often they give and take is no matter
		for i := range 7 {
			l.Got(later, l.HolderOf(behind(i)), 1)
		}
	}
	if got := l.Limit(HolderOf(behind(50))); got != 2*Entry {
		t.Errorf("beside 7 settled keys the limit of strangers is %v", got)
	}
	for i := range 2 {
		l.Proved(later, node(2), nodeKey(i))
	}
	if here, there := l.Limit(HolderOf(behind(50))), l.Limit(HolderOf(node(2))); here != Entry || there != Entry {
		t.Errorf("where 5 of them are left the limit of strangers is %v, and beside the others %v", here, there)
	}
}

// A key holds an account once its node gave an entry. After a week it is settled, if it has given ten, and stays so as
// long as it owes no more than a quarter of that.
func TestWhatAKeyMustGive(t *testing.T) {
	l, later := newLedger(Config{}), now.Add(settledAfter)
	k := meetKey(l, now, behind(1), nodeKey(1))
	k.gives(now, Entry-1)
	if h := l.HolderOf(k.id); h != HolderOf(k.id) {
		t.Errorf("for less than an entry the account is that of %v", h)
	}
	k.gives(now, 1)
	h := l.HolderOf(k.id)
	if h != keyHolder(nodeKey(1)) {
		t.Fatalf("for an entry the account is that of %v", h)
	}
	k.gives(now, proven-Entry-1)
	l.Gave(now, h, proven)
	at := HolderOf(k.id)
	if l.Expire(later); l.Settled(later, h) || l.Party(h) != at || l.owedAt(at) != 1 {
		t.Errorf("for less than ten entries it is settled, or counts as %v, or owes %v", l.Party(h), l.owedAt(at))
	}
	k.gives(later, 1)
	if l.Settled(later.Add(-time.Second), h) || !l.Settled(later, h) || l.Party(h) != h {
		t.Errorf("after a week it is not settled, or counts as %v", l.Party(h))
	}
	k.gives(later, 20*Entry)
	l.Gave(later, h, l.Allowance(h))
	if a := l.Account(h); a.Deficit != 30*Entry/keyPart || !l.Settled(later, h) || l.owedAt(at) != 0 {
		t.Errorf("of %v that it owes, %v is owed at its address", a.Deficit, l.owedAt(at))
	}
	if l.Gave(later, h, 1); l.Settled(later, h) || l.Party(h) != at || l.owedAt(at) != 30*Entry/keyPart+1 {
		t.Errorf("owing more than a quarter it is settled, or counts as %v, or owes %v", l.Party(h), l.owedAt(at))
	}
	k.gives(later, 5*Entry)
	if !l.Settled(later, h) || l.owedAt(at) != 0 {
		t.Errorf("settled again, it owes %v at its address", l.owedAt(at))
	}
}

// What an account counts goes over with a key, and no more: neither owes anything else for it.
func TestRecognitionInventsNothing(t *testing.T) {
	l := newLedger(Config{})
	k := meetKey(l, now, behind(1), nodeKey(1))
	h := l.HolderOf(k.id)
	l.Gave(now, h, 3*Entry) // to others, but for one entry
	l.Got(now, h, 30*Entry)
	k.given, k.got, k.net = Entry, 30*Entry, l.Net(Entry, -30*Entry)
	before := l.Account(h)
	k.gives(now, 0)
	at := l.Account(HolderOf(k.id))
	own := l.Account(l.HolderOf(k.id))
	if before.Deficit != -10*Entry || at.Deficit != 0 || own.Deficit != -10*Entry || own.Got != 30*Entry ||
		own.Given != Entry || at.Given != 2*Entry || at.Got != 0 {
		t.Errorf("the address had %+v, and has %+v; the key has %+v", before, at, own)
	}
	// What others gave at the address is not the key's, also where what it gave was worth nothing in the end.
	l = newLedger(Config{})
	l.Got(now, HolderOf(behind(1)), 5*Entry)
	l.Revoked(now, HolderOf(behind(1)), 5*Entry)
	if l.Recognize(now, behind(1), nodeKey(1), 0, 5*Entry, -5*Entry) {
		t.Error("a key has an account for what was revoked")
	}
}

// Debts stay where they were made: keys that owe are strangers elsewhere, beyond what one node may owe there.
func TestDebtsAreNotCarriedAway(t *testing.T) {
	l := newLedger(Config{})
	var got, given Credit
	for i := range 500 {
		k := meetKey(l, now, behind(i), nodeKey(i))
		given += Entry
		got += k.trades(now, Entry)
		l.Proved(now, node(2), nodeKey(i)) // as far as its debt fits there
		l.Proved(now, node(2), protocol.NodeKey{})
	}
	if most := given + given/keyPart + 2*Value(defaultBound, 0); got > most {
		t.Errorf("keys that go elsewhere with their debts gave %v and got %v, more than that and what two may owe",
			given, got)
	}
}

// What a key owes goes to another address with it as far as it fits there beside what is owed: to the last entry.
func TestDebtsGoWhereTheyFit(t *testing.T) {
	for others, want := range map[Credit]bool{0: true, Entry: false} {
		l := newLedger(Config{})
		k := meetKey(l, now, behind(1), nodeKey(1))
		k.gives(now, Entry)
		k.gives(now, 30*Entry)
		if taken := k.takes(now); taken != 20*Entry {
			t.Fatalf("it took %v", taken)
		}
		l.Gave(now, HolderOf(node(2)), others)
		l.Proved(now, node(2), nodeKey(1))
		if got := l.HolderOf(node(2)) == l.Claimed(behind(1), nodeKey(1)); got != want {
			t.Errorf("it takes a debt of 10 entries to where %v are owed: %v", others, got)
		}
		here, there := 10*Entry, others
		if want {
			here, there = 0, 10*Entry
		}
		if x, y := l.owedAt(HolderOf(behind(1))), l.owedAt(HolderOf(node(2))); x != here || y != there {
			t.Errorf("%v are owed where it was, and %v where it is", x, y)
		}
	}
}

// Keys that wait until they are settled gain a quarter of what they give, however many there are.
func TestPatienceGainsAQuarter(t *testing.T) {
	l, later := newLedger(Config{}), now
	var got, given Credit
	for round := range 3 {
		var list []*keyed
		for i := range 100 {
			k := meetKey(l, later, behind(100*round+i), nodeKey(100*round+i))
			given += proven
			got += k.trades(later, proven)
			list = append(list, k)
		}
		later = later.Add(settledAfter)
		l.Expire(later)
		for _, k := range list {
			got += k.takes(later)
		}
	}
	if most := given + given/keyPart + Value(defaultBound, 0); got > most {
		t.Errorf("keys that settle gave %v and got %v", given, got)
	}
}

// Of twenty homes at an address each has what is new first as often as we have it, from us or from others, and all want
// all of it: they wait for no more than one alone would, though we give one bundle to many of them.
func TestHomesAtAnAddressWaitForNothing(t *testing.T) {
	l, rng := newLedger(Config{}), newRand(1)
	var homes []*keyed
	for i := range 20 {
		k := meetKey(l, now, behind(i), nodeKey(i))
		k.gives(now, 3*Entry)
		homes = append(homes, k)
	}
	const bundles = 5000
	waited, given := 0, 0
	for range bundles {
		there := false // somebody at the address had it
		for _, i := range rng.Perm(len(homes)) {
			h, has := l.HolderOf(homes[i].id), rng.IntN(2) == 0
			switch given++; {
			case has && there:
				l.GotAgain(now, h, Entry)
			case has:
				l.Got(now, h, Entry)
			case l.Allowance(h) < Entry:
				waited++
				continue
			default:
				if l.Gave(now, h, Entry); there {
					l.GaveAgain(now, h, Entry)
				}
			}
			there = true
		}
	}
	if share := float64(waited) / float64(given); share > .08 { // as one alone waits
		t.Errorf("%.1f%% of what %d homes were to get had to wait", 100*share, len(homes))
	}
}

// Keys on one machine each offer what another got, and get what another gave: together they get what one node gets.
func TestWhatKeysOfAnAddressHaveInCommonEarnsNothing(t *testing.T) {
	l, later := newLedger(Config{}), now
	var got, given Credit
	for range 4 {
		var list []*keyed
		for i := range 50 {
			k := meetKey(l, later, behind(i), nodeKey(i))
			k.gives(later, Entry)
			given += Entry
			list = append(list, k)
		}
		for range 300 {
			for i, k := range list {
				if h := l.HolderOf(k.id); l.Allowance(h) >= Entry {
					got += Entry
					l.Gave(later, h, Entry)
				}
				other := l.HolderOf(list[(i+1)%len(list)].id)
				l.GotAgain(later, other, Entry)
				if l.Allowance(other) >= Entry {
					l.Gave(later, other, Entry)
					l.GaveAgain(later, other, Entry)
				}
				l.GotAgain(later, other, 2*Entry)
			}
		}
		later = later.Add(settledAfter)
		l.Expire(later)
	}
	if most := given + 2*Value(defaultBound, 0); got > most {
		t.Errorf("50 keys that gave %v got %v, more than that and twice what one node may owe", given, got)
	}
}

// All at an address that are not settled are owed no more together than one node: D.
func TestAnAddressIsOwedAsMuchAsOneNode(t *testing.T) {
	l := newLedger(Config{})
	stranger := HolderOf(behind(0))
	for i := range 3 {
		meetKey(l, now, behind(i), nodeKey(i)).gives(now, Entry)
		l.Gave(now, l.HolderOf(behind(i)), Entry)
	}
	l.Gave(now, stranger, Entry)
	for i := range 3 {
		l.Got(now, l.HolderOf(behind(i)), 8*Entry)
	}
	if owed := l.owedAt(stranger); owed != -10*Entry {
		t.Errorf("together they owe %v", owed)
	}
}

// A key is alone at its address, however often it gives, before others come, and when they have gone or are settled.
func TestWhoIsAlone(t *testing.T) {
	l, later := newLedger(Config{}), now.Add(settledAfter)
	k := meetKey(l, now, behind(1), nodeKey(1))
	k.gives(now, Entry)
	crowded := func(at time.Time, want bool) {
		t.Helper()
		for range 3 {
			if k.gives(at, 1); l.Crowded(l.HolderOf(k.id)) != want {
				t.Errorf("there are others beside it: %v", !want)
			}
		}
	}
	crowded(now, false)
	for i := 2; i <= 4; i++ {
		meetKey(l, now, behind(i), nodeKey(i)).gives(now, proven)
	}
	crowded(now, true)
	if l.Got(now, HolderOf(k.id), Entry); l.Crowded(HolderOf(k.id)) {
		t.Error("strangers, who are one, are taken for a key among others")
	}
	l.Proved(now, node(2), nodeKey(2))
	l.Proved(now, node(2), nodeKey(3))
	crowded(now, true)
	l.Expire(later)
	crowded(later, false)
}

// What a key is owed ends as it settles: others at its address may have been given it, and would be again.
func TestSettledKeysAreOwedNothingForBefore(t *testing.T) {
	l, later := newLedger(Config{}), now
	var got, given Credit
	for round := range 5 {
		givers, taker := make([]*keyed, 10), meetKey(l, later, behind(1000+round), nodeKey(1000+round))
		taker.gives(later, proven)
		given += proven
		for i := range givers {
			givers[i] = meetKey(l, later, behind(10*round+i), nodeKey(10*round+i))
			givers[i].gives(later, proven)
			l.GotAgain(later, l.HolderOf(taker.id), 20*Entry)
			given, got = given+proven, got+taker.takes(later)
		}
		later = later.Add(settledAfter)
		l.Expire(later)
		for _, k := range append(givers, taker) {
			got += k.takes(later)
		}
	}
	if most := given + given/keyPart + 2*Value(defaultBound, 0); got > most {
		t.Errorf("keys that take what others give and those that settle gave %v and got %v", given, got)
	}
}

// An account that ends owes on where it was.
func TestDebtsOutliveAccounts(t *testing.T) {
	l, later := newLedger(Config{}), now
	var got, given Credit
	for i := range 12 {
		k := meetKey(l, later, behind(i), nodeKey(i))
		given += proven
		got += k.trades(later, proven)
		for range 31 {
			later = later.Add(day)
			l.Met(later, HolderOf(behind(0)))
			l.Got(later, HolderOf(behind(99)), 1) // another of that address
			l.Expire(later)
		}
	}
	if most := given + given/keyPart + 2*Value(defaultBound, 0); got > most {
		t.Errorf("month by month keys gave %v and got %v", given, got)
	}
}

// Keys that are settled by time alone are kept as such, in the same order in equal runs.
func TestSettlingByTimeIsKept(t *testing.T) {
	const keys = 9
	run := func() (list []string) {
		l := newLedger(Config{})
		for i := range keys {
			meetKey(l, now, node(i), nodeKey(i)).gives(now, proven)
		}
		l.Changed()
		l.Expire(now.Add(settledAfter))
		_, changed := l.Changed()
		for _, a := range changed {
			if list = append(list, a.Holder.String()); a.Deficit != 0 {
				t.Errorf("%v, which is settled, is kept with a deficit of %v", a.Holder, a.Deficit)
			}
		}
		return list
	}
	if a, b := run(), run(); len(a) != keys || !slices.Equal(a, b) {
		t.Errorf("of %d keys equal runs keep %v and %v", keys, a, b)
	}
}

// A key that settles owes with the others at its address no more. Where these have no account any more, and there is
// room for none, somebody else is forgotten, who was to be looked at next.
func TestSettlingByTimeWithoutRoom(t *testing.T) {
	l, later := newLedger(Config{}), now.Add(settledAfter)
	k := meetKey(l, now, node(1), nodeKey(1))
	k.gives(now, proven)
	h := l.HolderOf(k.id)
	for l.of(h).owed() == 0 {
		l.Gave(now, h, Entry)
	}
	l.drop(l.At(h))
	for i := 2; len(l.accounts) < maxAccounts; i++ {
		l.meet(later, holder(i))
	}
	l.Expire(later)
	if !l.Settled(later, h) || len(l.accounts) != maxAccounts || l.of(l.At(h)) == nil {
		t.Errorf("the key settled: %v, of %d accounts one is %+v", l.Settled(later, h), len(l.accounts), l.of(l.At(h)))
	}
}

// A node whose key is forgotten is a stranger, and one that came in its place since keeps the account of its own.
func TestForgottenKeysAreStrangers(t *testing.T) {
	l, later := newLedger(Config{}), now.Add(remembered+day)
	for i := range 3 {
		meetKey(l, now, behind(i), nodeKey(i)).gives(now, Entry)
	}
	meetKey(l, later, behind(1), nodeKey(7)).gives(later, Entry)
	l.Met(later, l.HolderOf(behind(2)))
	l.Expire(later)
	for i, want := range []Holder{HolderOf(behind(0)), keyHolder(nodeKey(7)), keyHolder(nodeKey(2))} {
		if got := l.HolderOf(behind(i)); got != want {
			t.Errorf("the account at %v is that of %v, want %v", behind(i), got, want)
		}
	}
}

// What keys of an address do wrong adds up, as long as they are not settled: another key has no clean slate.
func TestOffencesOfKeysAddUpAtTheirAddress(t *testing.T) {
	l := newLedger(Config{})
	settled := meetKey(l, now, behind(0), nodeKey(0))
	settled.gives(now, proven)
	at := now.Add(settledAfter)
	for i := 1; i <= 3; i++ { // a broken promise each, of which three are too many
		k := meetKey(l, at, behind(i), nodeKey(i))
		k.gives(at, Entry)
		if ended := l.Punish(at, l.HolderOf(k.id), BrokenPromise, 0); ended != (i == 3) {
			t.Errorf("after %d the address is refused: %v", i, ended)
		}
		at = at.Add(2 * oneFailure)
	}
	for i, refused := range []bool{false, true, true, true, true} {
		if got := l.RefusedAt(at, behind(i), l.HolderOf(behind(i))); got != refused {
			t.Errorf("node %d is refused: %v", i, got)
		}
	}
}

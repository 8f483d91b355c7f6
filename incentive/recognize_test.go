package incentive

import (
	"encoding/json"
	"net/netip"
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
	l          *Ledger
	id         protocol.NodeID
	key        protocol.NodeKey
	given, got Credit
}

func meetKey(l *Ledger, at time.Time, id protocol.NodeID, k protocol.NodeKey) *keyed {
	l.Proved(at, id, k)
	return &keyed{l: l, id: id, key: k}
}

// takes has the node served as far as its account allows, and returns how much that was.
func (k *keyed) takes(at time.Time) (taken Credit) {
	for h := k.l.HolderOf(k.id); k.l.Allowance(h) >= Entry; taken += Entry {
		k.l.Gave(at, h, Entry)
		k.given += Entry
	}
	return taken
}

// gives has the node earn, and recognizes it where that is enough.
func (k *keyed) gives(at time.Time, v Credit) {
	k.l.Got(at, k.l.HolderOf(k.id), v)
	k.got += v
	k.l.Recognize(at, k.id, k.key, k.given, k.got)
}

// However many keys are made at an address, together they get what one stranger gets, and from then on what they give.
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
			k.gives(now, Entry)
			given += Entry
			got += k.takes(now)
			list[i] = meetKey(l, now, behind(i), nodeKey(200*(round+1)+i))
			got += list[i].takes(now)
		}
	}
	if most := given + Value(defaultBound, 0); got > most {
		t.Errorf("keys that change after each entry gave %v and got %v, more than one node may owe", given, got)
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
	if got := l.HolderOf(node(7)); got != HolderOf(node(7)) {
		t.Errorf("another key at its address has the account of %v", got)
	}
	if got := l.Claimed(node(7), nodeKey(1)); got != h {
		t.Errorf("claimed, the key's account is that of %v", got)
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
		if _, refused := l.Refused(later, h); refused || !l.Settled(later, h) || l.Limit(h) != proven {
			t.Errorf("the settled key %d is refused: %v; it may have %v", i, refused, l.Allowance(h))
		}
	}
	young, next := meetKey(l, later, behind(20), nodeKey(20)), meetKey(l, later, behind(30), nodeKey(30))
	for _, k := range []*keyed{forger, young, next} {
		if until, refused := l.Refused(later, l.HolderOf(k.id)); !refused || !until.Equal(later.Add(forgerForgotten)) {
			t.Errorf("%v is refused: %v, until %v", k.id, refused, until)
		}
	}
	if _, refused := l.Refused(later, l.HolderOf(node(2))); refused {
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
}

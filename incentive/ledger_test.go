package incentive

import (
	"encoding/json"
	"errors"
	"math"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"feedex/protocol"
)

var now = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// node is a node at a public address of its own.
func node(i int) protocol.NodeID {
	return protocol.NewNodeID(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 1}), 7790)
}

func holder(i int) Holder { return HolderOf(node(i)) }

func newLedger(c Config) *Ledger {
	l, err := NewLedger(c)
	if err != nil {
		panic(err)
	}
	return l
}

// known is a Ledger in which h is no stranger and stands at a deficit of 0.
func known(c Config, h Holder) *Ledger {
	l := newLedger(c)
	l.Load(now, []Account{{Holder: h, Given: Value(1000, 0), Got: Value(1000, 0), Since: now, Met: now}})
	return l
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		rule          string
		entries, hops int
		want          Credit
	}{
		{"an entry of the direct interest is the unit", 1, 0, Entry},
		{"a hop halves the value", 1, 1, Entry / 2},
		{"two hops halve it twice", 3, 2, 3 * Entry / 4},
		{"the largest hop count still counts", 1, protocol.MaxHops, 1},
		{"nothing is worth nothing", 0, 0, 0},
		{"a negative number is nothing", -5, 0, 0},
		{"an absurd hop count is the largest", 1, 1000, 1},
		{"a negative hop count is the direct interest", 1, -1, Entry},
		{"an absurd number does not overflow", math.MaxInt, 0, maxCounted * Entry},
	} {
		if got := Value(c.entries, c.hops); got != c.want {
			t.Errorf("%s: Value(%d, %d) = %d, want %d", c.rule, c.entries, c.hops, got, c.want)
		}
	}
}

func TestCreditReadsAsEntries(t *testing.T) {
	for c, want := range map[Credit]string{
		0: "0", Entry: "1", Entry / 2: "0.5", -10 * Entry: "-10", Value(1, 3): "0.13", MaxCredit: "unbounded",
	} {
		if got := c.String(); got != want {
			t.Errorf("%d reads %q, want %q", int64(c), got, want)
		}
	}
}

// A step is one thing that happens to an account.
type step func(*Ledger, Holder)

func gave(entries int) step { return func(l *Ledger, h Holder) { l.Gave(now, h, Value(entries, 0)) } }
func got(entries int) step  { return func(l *Ledger, h Holder) { l.Got(now, h, Value(entries, 0)) } }
func back(entries int) step {
	return func(l *Ledger, h Holder) { l.Returned(now, h, Value(entries, 0)) }
}
func revoked(entries int) step {
	return func(l *Ledger, h Holder) { l.Revoked(now, h, Value(entries, 0)) }
}
func punish(o Offence, entries int) step {
	return func(l *Ledger, h Holder) { l.Punish(now, h, o, Value(entries, 0)) }
}

func TestLedgerRules(t *testing.T) {
	public := HolderOf(protocol.NewNodeID(netip.MustParseAddr("20.0.0.1"), 7790))
	local := HolderOf(protocol.NewNodeID(netip.MustParseAddr("10.0.0.1"), 7790))
	const unbounded = 1 << 30
	for _, c := range []struct {
		rule      string
		config    Config
		holder    Holder
		stranger  bool
		steps     []step
		allowance int // entries
	}{
		{rule: "a stranger may have one entry", stranger: true, allowance: 1},
		{rule: "a stranger that has it must give", stranger: true, steps: []step{gave(1)}},
		{rule: "its limit grows by what it gives", stranger: true, steps: []step{gave(1), got(3)}, allowance: 6},
		{rule: "up to D", stranger: true, steps: []step{got(30), gave(10)}, allowance: 10},
		{rule: "who is known may have D more than it gave", allowance: 10},
		{rule: "what is given counts against it", steps: []step{gave(4)}, allowance: 6},
		{rule: "what it gives counts for it", steps: []step{gave(4), got(4)}, allowance: 10},
		{rule: "nothing is allowed at the bound", steps: []step{gave(10)}},
		{rule: "an allowance is never negative", steps: []step{gave(25)}},
		{rule: "giving much earns no more than D beyond", steps: []step{got(5000)}, allowance: 20},
		{rule: "the floor holds where a delivery comes back", steps: []step{gave(5), got(15), back(5)}, allowance: 20},
		{rule: "a delivery that never left costs nothing", steps: []step{gave(4), back(4)}, allowance: 10},
		{rule: "what was not given cannot come back", steps: []step{back(5000)}, allowance: 20},
		{rule: "what turned out to be worth nothing is taken back", steps: []step{gave(5), got(4), revoked(3)},
			allowance: 6},
		{rule: "no more than was got", stranger: true, steps: []step{got(4), revoked(400)}, allowance: 1},
		{rule: "a broken promise costs 75 times the value", steps: []step{punish(BrokenPromise, 1), got(70)},
			allowance: 5},
		{rule: "a value that is not known counts as one entry", steps: []step{punish(WrongDID, 0), got(70)},
			allowance: 5},
		{rule: "promises that break together are fined once",
			steps: []step{punish(BrokenPromise, 1), punish(BrokenPromise, 1), got(70)}, allowance: 5},
		{rule: "failed audits are fined each", steps: []step{punish(FailedAudit, 1), punish(FailedAudit, 1), got(145)},
			allowance: 5},
		{rule: "what is forged is taken back tenfold", steps: []step{got(2), punish(ForgedEntry, 2), got(17)},
			allowance: 9},
		{rule: "debt ends at 200", steps: []step{punish(FailedAudit, 100), punish(FailedAudit, 100), got(195)},
			allowance: 5},
		{rule: "D can be chosen", config: Config{Bound: 1000}, steps: []step{gave(400)}, allowance: 600},
		{rule: "fines mean something under a large D", config: Config{Bound: 1000},
			steps: []step{punish(FailedAudit, 100)}},
		{rule: "no bound, no end", config: Config{Bound: -1}, stranger: true,
			steps: []step{gave(5000), punish(FailedAudit, 9)}, allowance: unbounded},
		{rule: "the owner's own machines have no bound", config: Config{TrustLocal: true}, holder: local,
			steps: []step{gave(5000)}, allowance: unbounded},
		{rule: "unless he says so they have one", holder: local, steps: []step{gave(3)}, allowance: 7},
		{rule: "trusting them trusts nobody else", config: Config{TrustLocal: true}, steps: []step{gave(3)},
			allowance: 7},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if c.holder == (Holder{}) {
				c.holder = public
			}
			l := known(c.config, c.holder)
			if c.stranger {
				l = newLedger(c.config)
			}
			for _, do := range c.steps {
				do(l, c.holder)
			}
			want := Value(c.allowance, 0)
			if c.allowance == unbounded {
				want = MaxCredit
			}
			if got := l.Allowance(c.holder); got != want {
				t.Errorf("allowance is %v, want %v", got, want)
			}
		})
	}
}

func TestUnboundedAccountsAreCounted(t *testing.T) {
	l, h := newLedger(Config{Bound: -1}), holder(1)
	l.Gave(now, h, Value(500, 0))
	l.Got(now, h, Value(20, 0))
	a := l.Account(h)
	if a.Given != Value(500, 0) || a.Got != Value(20, 0) || a.Deficit != Value(480, 0) {
		t.Errorf("account is %+v", a)
	}
	if _, at := l.AtBound(h); at {
		t.Error("there is no bound, but it is at it")
	}
}

// What is worth nothing gives nobody an account, and changes none.
func TestNothingIsNotBooked(t *testing.T) {
	l, h := newLedger(Config{}), holder(1)
	for _, book := range []func(time.Time, Holder, Credit){l.Gave, l.Returned, l.Got, l.Revoked} {
		book(now, h, 0)
		book(now, h, -Entry)
	}
	if l.of(h) != nil {
		t.Error("who gave and got nothing has an account")
	}
	l.Gave(now, h, Entry)
	l.Changed()
	for _, book := range []func(time.Time, Holder, Credit){l.Gave, l.Returned, l.Got, l.Revoked} {
		book(now.Add(time.Minute), h, 0)
	}
	if _, changed := l.Changed(); len(changed) != 0 {
		t.Errorf("nothing changed %+v", *changed[0])
	}
	for i := range 2 {
		meetKey(l, now, behind(i), nodeKey(i)).gives(now, Entry)
	}
	l.Changed()
	l.GotAgain(now, l.HolderOf(behind(1)), 0)
	l.GaveAgain(now, l.HolderOf(behind(1)), 0)
	if _, changed := l.Changed(); len(changed) != 0 {
		t.Errorf("nothing changed the account of a key: %+v", *changed[0])
	}
}

func TestAtBoundSince(t *testing.T) {
	l, h := known(Config{}, holder(1)), holder(1)
	if _, at := l.AtBound(h); at {
		t.Fatal("at the bound from the beginning")
	}
	l.Gave(now.Add(time.Hour), h, Value(10, 0))
	l.Gave(now.Add(2*time.Hour), h, Value(1, 1))
	if since, at := l.AtBound(h); !at || !since.Equal(now.Add(time.Hour)) {
		t.Errorf("at the bound since %v, %v", since, at)
	}
	l.Got(now.Add(3*time.Hour), h, Value(3, 0))
	if _, at := l.AtBound(h); at {
		t.Error("still at the bound after it gave")
	}
}

// Leaving and returning on another port of the same address wins nothing.
func TestAccountOutlivesPort(t *testing.T) {
	l := newLedger(Config{})
	addr := netip.MustParseAddr("20.0.0.1")
	served := Credit(0)
	for hour := range 1000 {
		h := HolderOf(protocol.NewNodeID(addr, uint16(2000+hour)))
		if v := min(l.Allowance(h), Entry); v > 0 {
			l.Gave(now.Add(time.Duration(hour)*time.Minute), h, v)
			served += v
		}
	}
	if served != Entry {
		t.Errorf("1000 ports got %v entries, want the stranger's one", served)
	}
}

func TestExpire(t *testing.T) {
	l := newLedger(Config{})
	l.Gave(now, holder(1), Entry)
	l.Gave(now, holder(2), Entry)
	l.Met(now.Add(10*24*time.Hour), holder(2))
	l.Met(now, holder(3)) // a stranger, with nothing to forget
	l.Changed()
	l.Expire(now.Add(30 * 24 * time.Hour))
	if l.of(holder(1)) == nil {
		t.Error("an account was forgotten 30 days after the last contact")
	}
	if n := testing.AllocsPerRun(10, func() { l.Expire(now.Add(30*24*time.Hour + time.Second)) }); n > 0 {
		t.Errorf("looking twice on one day costs %v allocations", n)
	}
	l.Expire(now.Add(31 * 24 * time.Hour))
	dropped, changed := l.Changed()
	if len(dropped) != 1 || dropped[0] != holder(1) || len(changed) != 0 {
		t.Errorf("dropped %v, changed %v", dropped, changed)
	}
	if list := l.Accounts(); len(list) != 1 || list[0].Holder != holder(2) {
		t.Errorf("accounts are %v", list)
	}
}

func TestChangedIsDrained(t *testing.T) {
	l := newLedger(Config{})
	l.Gave(now, holder(2), Entry)
	l.Gave(now, holder(1), Entry)
	l.Got(now, holder(2), Entry)
	if dropped, changed := l.Changed(); len(dropped) != 0 || len(changed) != 2 || changed[0].Holder != holder(2) ||
		changed[0].Got != Entry {
		t.Errorf("dropped %v, changed %+v", dropped, changed)
	}
	if _, changed := l.Changed(); len(changed) != 0 {
		t.Errorf("changed again: %v", changed)
	}
	l.Punish(now, holder(1), UnwantedFeed, 0)
	if _, changed := l.Changed(); len(changed) != 1 || len(changed[0].Standing.Marks) != 1 {
		t.Errorf("after an offence: %+v", changed)
	}
}

// Strangers that come in thousands make us forget each other, not our neighbors.
func TestAccountsAreBounded(t *testing.T) {
	l := newLedger(Config{})
	l.Gave(now, holder(0), Entry)
	for i := range maxAccounts + 50 {
		l.Punish(now.Add(time.Duration(i+1)*time.Second), holder(i+1), ConnectStorm, 0)
	}
	if n := len(l.Accounts()); n != maxAccounts {
		t.Errorf("%d accounts", n)
	}
	if l.of(holder(0)) == nil {
		t.Error("the neighbor is forgotten")
	}
	if l.of(holder(1)) != nil {
		t.Error("the stranger without contact for longest is remembered")
	}
	if dropped, _ := l.Changed(); len(dropped) != 51 {
		t.Errorf("%d accounts were dropped", len(dropped))
	}
	kept := l.Accounts()
	for i := range 50 {
		kept = append(kept, Account{Holder: holder(2*maxAccounts + i), Met: now.Add(day)})
	}
	l = newLedger(Config{})
	l.Load(now, kept)
	if n := len(l.Accounts()); n != maxAccounts {
		t.Errorf("%d accounts are loaded", n)
	}
	l.Changed()
	l.Load(now, kept[len(kept)-1:])
	if dropped, _ := l.Changed(); len(dropped) != 0 || len(l.Accounts()) != maxAccounts {
		t.Errorf("to load one that is there %d were dropped", len(dropped))
	}
}

func TestAccountsOfOtherBoundsAreBroughtWithin(t *testing.T) {
	for _, c := range []struct{ deficit, want int }{{-800, -10}, {900, 200}, {7, 7}} {
		l := newLedger(Config{})
		deficit := Value(1, 0) * Credit(c.deficit)
		l.Load(now, []Account{{Holder: holder(1), Got: Value(1000, 0), Deficit: deficit, Met: now}})
		if a := l.Account(holder(1)); a.Deficit != Entry*Credit(c.want) {
			t.Errorf("a deficit of %d became %v, want %d", c.deficit, a.Deficit, c.want)
		}
		if since, at := l.AtBound(holder(1)); at != (c.want == 200) || at && !since.Equal(now) {
			t.Errorf("deficit %d: at the bound %v since %v", c.want, at, since)
		}
	}
}

// Since when an account is at its bound is kept, as long as it is at it.
func TestAtBoundIsKept(t *testing.T) {
	for deficit, want := range map[Credit]bool{9: false, 10: true} {
		l, h, since := newLedger(Config{}), holder(1), now.Add(-time.Hour)
		l.Load(now, []Account{{Holder: h, Got: Value(1000, 0), Deficit: deficit * Entry, Met: now, AtBound: since}})
		if got, at := l.AtBound(h); at != want || at && !got.Equal(since) {
			t.Errorf("with a deficit of %d it is at its bound: %v, since %v", deficit, at, got)
		}
	}
}

func TestConfigOutOfRange(t *testing.T) {
	_, err := NewLedger(Config{Bound: 1001})
	if !errors.Is(err, ErrConfig) ||
		err.Error() != "setting out of range: deficit bound is 1001, want 1 to 1000 entries" {
		t.Errorf("error is %v", err)
	}
}

func TestAccountSurvivesJSON(t *testing.T) {
	l := newLedger(Config{})
	at := now.Add(123456 * time.Microsecond).In(time.FixedZone("", 3600))
	l.Gave(at, holder(1), Entry)
	l.Punish(at, holder(1), ForgedEntry, Entry)
	want := l.Account(holder(1))
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Account
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v became %+v", want, got)
	}
}

// AtBound reports whether less than one entry may be sent to h, and since when that is so.
func (l *Ledger) AtBound(h Holder) (since time.Time, at bool) {
	if a := l.of(h); a != nil && !a.AtBound.IsZero() {
		return a.AtBound, true
	}
	return time.Time{}, false
}

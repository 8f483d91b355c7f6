package incentive

import (
	"encoding/json"
	"testing"
)

// The first questions cost nothing, however often a node comes back; the others are answered as long as an entry is
// left, and cost what they cost.
func TestTheFirstQuestionsAreFree(t *testing.T) {
	l := newLedger(Config{})
	h := HolderOf(node(1))
	const price = Entry / 10
	for i := range 5 {
		if !l.MayAsk(h, price) {
			t.Fatalf("question %d is refused", i+1)
		}
		if paid := l.Question(now, h, price); paid != 0 || l.Allowance(h) != Entry {
			t.Errorf("question %d costs %v, and %v may be given", i+1, paid, l.Allowance(h))
		}
	}
	if l.MayAsk(h, price) {
		t.Error("a stranger may ask on, with less than an entry left")
	}
	text, err := json.Marshal(l.Accounts())
	var kept []Account
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	l = newLedger(Config{})
	l.Load(now, kept)
	if l.MayAsk(h, price) {
		t.Error("after a restart it may ask on")
	}
	l.Got(now, h, Entry)
	if paid := l.Question(now, h, price); !l.MayAsk(h, price) || paid == 0 {
		t.Errorf("having given an entry it may ask %v, and pays %v", l.MayAsk(h, price), paid)
	}
	if paid := l.Question(now, HolderOf(node(2)), 3*questions); paid != 2*questions {
		t.Errorf("of a question that is too dear %v is paid", paid)
	}
}

// What is asked for nothing is kept, and only that; to the last bit of it, and of an entry that is left beside what a
// question costs.
func TestWhatMayBeAsked(t *testing.T) {
	h := holder(1)
	l := known(Config{}, h)
	if !l.MayAsk(holder(2), questions) || l.MayAsk(holder(2), questions+1) {
		t.Error("a stranger may ask for more, or for less, than is free")
	}
	for i, c := range []struct {
		price, pays Credit
		kept        bool
	}{{questions - 1, 0, true}, {2, 1, true}, {2, 2, false}} {
		l.Changed()
		pays := l.Question(now, h, c.price)
		if _, changed := l.Changed(); pays != c.pays || len(changed) > 0 != c.kept {
			t.Errorf("question %d costs %v, and is kept: %v", i+1, pays, len(changed) > 0)
		}
	}
	l.Gave(now, h, l.Allowance(h)-Entry-2)
	if !l.MayAsk(h, 2) || l.MayAsk(h, 3) {
		t.Errorf("with %d left it may ask for more, or for less, than leaves an entry", l.Allowance(h))
	}
}

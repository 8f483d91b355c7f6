package incentive

import "time"

// questions is the value of what an account may ask for nothing. Two nodes that ask each other about the past before
// either had anything to give would else owe a part of the one entry that a stranger may owe, and wait for each other
// for ever.
const questions = Entry / 2

// Question books what it costs to answer something that h asks, and returns how much of that it is to pay.
func (l *Ledger) Question(now time.Time, h Holder, price Credit) Credit {
	a := l.meet(now, h)
	free := max(0, min(price, questions-a.Asked))
	if a.Asked += free; free > 0 {
		l.touch(a)
	}
	return price - free
}

// MayAsk reports whether h may ask something that costs so much: for nothing, or where an entry's worth is left then.
// It is not to wait for what it follows because of what it asks.
func (l *Ledger) MayAsk(h Holder, price Credit) bool {
	var asked Credit
	if a := l.of(h); a != nil {
		asked = a.Asked
	}
	return price <= questions-asked || l.Allowance(h) >= Entry+price
}

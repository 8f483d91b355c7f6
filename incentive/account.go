package incentive

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// An Account is what we keep of one Holder. It is what outlives links and restarts: the archive keeps
// it, and JSON holds all of it. Given, Got and Fined are totals over its life; Deficit is what decides.
type Account struct {
	Holder Holder
	Given  Credit // c_{i,j}: what we delivered to it
	Got    Credit // c_{j,i}: what it earned with us
	Fined  Credit // what it was fined
	// Grace is what it may be forgiven, at most D.
	Grace Credit
	// Deficit is Given + Fined - Got, less what was forgiven, kept within the limits of the Ledger at every step.
	Deficit  Credit
	AtBound  time.Time // since when less than an entry may be sent to it; zero while that is not so
	Since    time.Time // first contact
	Met      time.Time // last contact
	Standing Standing
	Stored   Stored // what it brought
}

// clone is the account with its own list of marks.
func (a *Account) clone() Account {
	c := *a
	c.Standing.Marks = slices.Clone(a.Standing.Marks)
	return c
}

// AppendJSON appends what encoding/json writes for the account. It changes with every delivery, so this is made
// for speed.
func (a *Account) AppendJSON(dst []byte) []byte {
	dst = a.Holder.append(append(dst, `{"Holder":"`...))
	dst = a.Given.appendJSON(append(dst, `","Given":`...))
	dst = a.Got.appendJSON(append(dst, `,"Got":`...))
	dst = a.Fined.appendJSON(append(dst, `,"Fined":`...))
	dst = a.Grace.appendJSON(append(dst, `,"Grace":`...))
	dst = a.Deficit.appendJSON(append(dst, `,"Deficit":`...))
	dst = appendTime(append(dst, `,"AtBound":`...), a.AtBound)
	dst = appendTime(append(dst, `,"Since":`...), a.Since)
	dst = appendTime(append(dst, `,"Met":`...), a.Met)
	dst = append(dst, `,"Standing":{"Marks":`...)
	if a.Standing.Marks == nil {
		dst = append(dst, "null"...)
	} else {
		marks, _ := json.Marshal(a.Standing.Marks) // names and times in whole seconds, which have JSON
		dst = append(dst, marks...)
	}
	dst = appendTime(append(dst, `,"Refused":`...), a.Standing.Refused)
	dst = append(dst, `},"Stored":{"Unshown":[`...)
	for i, n := range a.Stored.Unshown {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, n, 10)
	}
	dst = strconv.AppendInt(append(dst, `],"Shown":`...), a.Stored.Shown, 10)
	dst = strconv.AppendInt(append(dst, `,"Slot":`...), a.Stored.Slot, 10)
	return append(dst, "}}"...)
}

func (c Credit) appendJSON(dst []byte) []byte { return strconv.AppendInt(dst, int64(c), 10) }

// appendTime appends a time of the years that RFC 3339 has. Most of an account's say that something never was.
func appendTime(dst []byte, t time.Time) []byte {
	if t == (time.Time{}) {
		return append(dst, `"0001-01-01T00:00:00Z"`...)
	}
	dst = t.AppendFormat(append(dst, '"'), time.RFC3339Nano)
	return append(dst, '"')
}

// seconds is t as accounts keep it.
func seconds(t time.Time) time.Time { return time.Unix(t.Unix(), 0).UTC() }

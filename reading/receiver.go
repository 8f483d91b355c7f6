package reading

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedex/feed"
	"feedex/internal/when"
)

// A Receiver is where a person is told of what their filters catch.
type Receiver struct {
	ID     ReceiverID
	Person PersonID
	Name   string // one line of text, of one receiver of the person
	Kind   ReceiverKind
	// Address is where messages go: of a Webhook and of Ntfy a URL, of Mail the address, of WebPush the subscription
	// as browsers write it.
	Address string
	Secret  string     // what ReceiverKind says, "" for none; it is shown to nobody
	Server  string     // of Mail: the server that takes it
	Local   bool       // it may be in the private network, where the owner has it
	Only    []FilterID // the filters whose hits are told; nil for all of the person that do not mute
	Hours   Hours
	Created time.Time // whole seconds

	// Commands is, of Ntfy, the topic of the same server at which commands of the person are heard, "" for none, and
	// Word the WordHash of what stands before each.
	Commands string
	Word     Hash
	Heard    string    // the ID of the message up to which they were gone through, "" for none
	Deaf     string    // why they cannot be heard, as a label, "" while they can
	Muted    time.Time // until then nothing is sent, whole seconds; zero for not at all

	Failures int       // deliveries in a row that failed
	Problem  string    // why the last one failed, as a label, "" after a success
	Next     time.Time // not before then, whole seconds; zero for at once
	Ended    bool      // the receiver said that it is gone: nothing is sent until it is added anew
}

// MutedAt reports whether nothing is sent at a moment. Who says for how long has another clock.
func (r *Receiver) MutedAt(now time.Time) bool { return !when.Due(now, r.Muted, 2*MaxMute) }

// Due is when what has waited since then may be sent: now or later. What a mute held back waits for a digest behind it.
func (r *Receiver) Due(now, since time.Time, told []time.Time) time.Time {
	from := now
	if r.MutedAt(now) {
		from = r.Muted.In(now.Location())
	}
	if !r.Muted.After(from) {
		since = when.Later(since, r.Muted)
	}
	return r.Hours.Due(from, since, told)
}

// A ReceiverID names a receiver: from 1, never used again.
type ReceiverID int64

// A ReceiverKind is how messages reach a receiver.
type ReceiverKind string

// The kinds of receivers. The Secret of a Webhook signs what is sent to it, that of Ntfy is an access token, and that
// of Mail the password at the server.
const (
	Webhook ReceiverKind = "webhook"
	Ntfy    ReceiverKind = "ntfy"
	Mail    ReceiverKind = "mail"
	WebPush ReceiverKind = "webpush"
)

// Hours are when a receiver wants to hear, by the node's clock.
type Hours struct {
	// QuietFrom and QuietTo bound the part of a day in which nothing is sent; where they are equal there is none. What
	// comes then waits for its end.
	QuietFrom, QuietTo TimeOfDay
	// Digest has messages sent at these times alone, each with all that came since the last; nil for at once.
	Digest []TimeOfDay
	// Most is how many messages are sent in an hour. What comes beyond them goes with the next.
	Most int
}

// Words says when, for people.
func (h Hours) Words() string {
	words := "at once"
	if len(h.Digest) > 0 {
		var times []string
		for _, t := range h.Digest {
			times = append(times, t.String())
		}
		words = "at " + strings.Join(times, ", ")
	}
	if h.QuietFrom != h.QuietTo {
		words += ", not from " + h.QuietFrom.String() + " to " + h.QuietTo.String()
	}
	if h.Most != DefaultMost {
		words += fmt.Sprintf(", at most %d an hour", h.Most)
	}
	return words
}

// A TimeOfDay is in minutes since midnight.
type TimeOfDay int

const (
	// MaxReceivers is how many a person may have.
	MaxReceivers = 50
	// MaxWaiting is how many entries wait for a receiver. Of what comes beyond them only the number is told.
	MaxWaiting = 1000
	// DefaultMost is Hours.Most where nothing else is asked for, and MostMost what it is at most.
	DefaultMost, MostMost = 20, 60
	// MessageAge is how old an entry may be that one is told of, by when it was published.
	MessageAge = 24 * time.Hour
	// MaxMute is how long receivers may be mute.
	MaxMute = 30 * 24 * time.Hour

	maxDigests = 24
	// MaxReceiverText is how long the address and the secret of a receiver may be, in bytes.
	MaxReceiverText = 4096
)

// Why a receiver is not added.
var (
	ErrReceiver  = errors.New("not a receiver")
	ErrTold      = errors.New("there is a receiver of that name: remove it first, or choose another name")
	ErrReceivers = fmt.Errorf("there are %d receivers already: remove some", MaxReceivers)
)

// Receivers keeps where the people of a node are told.
type Receivers interface {
	// KeepReceiver stores a receiver of the person in place of the one of that name, with what waits for it and, where
	// its Word is the same, what is known of its commands; as one that is mute as r says, of which nothing failed, and
	// that else was heard as r says. The error is ErrReceivers or, of Only, ErrNoFilter; nothing is changed then.
	KeepReceiver(r Receiver) (ReceiverID, error)
	// DropReceiver removes one with what waits for it, and reports whether there was one of that name.
	DropReceiver(name string) bool
}

// Messages keeps what receivers are told.
type Messages interface {
	// Told notes that a receiver has taken these messages at a moment, and that there are so many more.
	Told(to Receiver, at time.Time, messages []MessageID, more int)
	// NotTold notes why it has not, and when it is tried again; ended, that it never is. What concerns an address that
	// the receiver has no more does not matter.
	NotTold(to Receiver, problem string, next time.Time, ended bool)
	// Heard notes that the messages at the topic of a receiver were gone through up to this one, and what is answered
	// to it; it does nothing where the receiver has another Word now. Commands of before MessageAge are forgotten.
	Heard(at Receiver, c Command)
	// Answered notes that the answer to a command was taken.
	Answered(at Receiver, message string)
	// Deaf notes why commands are not heard, "" for that they are.
	Deaf(at Receiver, problem string)
	// Mute has the receivers of a person told nothing until then.
	Mute(p PersonID, until time.Time)
}

// A ReceiverList reads what Receivers and Messages keep.
type ReceiverList interface {
	// Receivers returns the receivers of all people, ordered by ID.
	Receivers(ctx context.Context) ([]Receiver, error)
	// Waiting returns what waits for a receiver, the oldest first, limit at most, and how many more came for which
	// there was no room.
	Waiting(ctx context.Context, id ReceiverID, limit int) (list []Message, more int, err error)
	// CountWaiting counts all of these.
	CountWaiting(ctx context.Context, id ReceiverID) (int, error)
	// ToldSince returns when a receiver was told something, then or later, in order.
	ToldSince(ctx context.Context, id ReceiverID, since time.Time) ([]time.Time, error)
	// WasHeard reports whether a message was a command that was Heard.
	WasHeard(ctx context.Context, id ReceiverID, message string) (bool, error)
	// Unanswered returns the commands whose answers nobody has taken yet, in the order in which they were heard.
	Unanswered(ctx context.Context, id ReceiverID) ([]Command, error)
}

// A MessageID names a message: from 1, never used again.
type MessageID int64

// A Message is an entry of which a receiver is to be told.
type Message struct {
	ID      MessageID
	Filter  string // its name
	Arrived time.Time
	Entry   feed.EntryID
	Item    ItemID
	Feed    string // what it is called, as a label
	Title   string // as a label
	Lead    string // where there is no title, the beginning of the entry's text in HTML
	Link    string // "" for none
	Time    time.Time
	// Unconfirmed is whether one neighbor alone vouches for it yet; see archive.Record.
	Unconfirmed bool
}

// Checked is the receiver as it is kept. The error wraps ErrReceiver or ErrName.
func (r Receiver) Checked() (Receiver, error) {
	name := nameOf(r.Name)
	if name == "" || len(name) > MaxName {
		return r, fmt.Errorf("%w for a receiver: %.40q: want one line of 1 to %d bytes", ErrName, r.Name, MaxName)
	}
	r.Name = name
	switch {
	case len(r.Address) > MaxReceiverText || len(r.Secret) > MaxReceiverText || len(r.Server) > MaxReceiverText:
		return r, fmt.Errorf("%w: addresses and secrets have %d bytes at most", ErrReceiver, MaxReceiverText)
	case r.Hours.Most < 1 || r.Hours.Most > MostMost:
		return r, fmt.Errorf("%w: want 1 to %d messages an hour, not %d", ErrReceiver, MostMost, r.Hours.Most)
	case len(r.Hours.Digest) > maxDigests:
		return r, fmt.Errorf("%w: want %d times of a digest at most", ErrReceiver, maxDigests)
	}
	for _, t := range append([]TimeOfDay{r.Hours.QuietFrom, r.Hours.QuietTo}, r.Hours.Digest...) {
		if t < 0 || t >= 24*60 {
			return r, fmt.Errorf("%w: a day has no minute %d", ErrReceiver, int(t))
		}
	}
	return r, nil
}

// ReceiverNamed is the receiver of a person by its name, and whether there is one.
func ReceiverNamed(list []Receiver, p PersonID, name string) (r Receiver, found bool) {
	for i := range list {
		if list[i].Person == p && nameOf(list[i].Name) == nameOf(name) {
			return list[i], true
		}
	}
	return Receiver{}, false
}

// ParseTimeOfDay reads a time such as 07:30.
func ParseTimeOfDay(s string) (TimeOfDay, error) {
	t, err := time.Parse("15:04", s)
	if err != nil {
		return 0, fmt.Errorf("%.20q is no time of day: want one such as 07:30", s)
	}
	return TimeOfDay(t.Hour()*60 + t.Minute()), nil
}

// String is the time as ParseTimeOfDay reads it.
func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", t/60, t%60) }

// next is the first moment at this time of day that is not before now, in now's zone.
func (t TimeOfDay) next(now time.Time) time.Time {
	for day := 0; ; day++ {
		at := time.Date(now.Year(), now.Month(), now.Day()+day, int(t/60), int(t%60), 0, 0, now.Location())
		if !at.Before(now) {
			return at
		}
	}
}

// Due is when what has waited since then may be sent, by the hours alone: now or later. Told are the times of the
// messages of the last hour, in order. What is of a time to come is of a clock that was wrong: it waits since now, and
// counts for no message.
func (h Hours) Due(now, since time.Time, told []time.Time) time.Time {
	at := now
	since = when.Earlier(since, now)
	told = slices.DeleteFunc(slices.Clone(told), now.Before)
	if len(h.Digest) > 0 {
		at = time.Time{}
		for _, t := range h.Digest {
			if next := t.next(since.In(now.Location())); at.IsZero() || next.Before(at) {
				at = next
			}
		}
	}
	if at.Before(now) {
		at = now
	}
	if n := len(told) - h.Most; n >= 0 {
		if free := told[n].Add(time.Hour); free.After(at) {
			at = free
		}
	}
	for h.quiet(at) { // minute by minute, for clocks may be changed meanwhile
		at = at.Truncate(time.Minute).Add(time.Minute)
	}
	return at
}

// quiet reports whether nothing is sent at a moment, by what the clock shows then.
func (h Hours) quiet(at time.Time) bool {
	t := TimeOfDay(at.Hour()*60 + at.Minute())
	if h.QuietFrom > h.QuietTo {
		return t >= h.QuietFrom || t < h.QuietTo
	}
	return t >= h.QuietFrom && t < h.QuietTo
}

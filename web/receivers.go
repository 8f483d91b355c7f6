package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"feedex/reading"
)

// Notifications are where the owner is told of what their filters catch.
type Notifications interface {
	// Receivers returns them, with what waits for each.
	Receivers(ctx context.Context) ([]ReceiverState, error)
	// AddReceiver adds one. The error may wrap reading.ErrName, reading.ErrTold where there is one of that name,
	// reading.ErrReceiver, reading.ErrReceivers or reading.ErrNoFilter.
	AddReceiver(ctx context.Context, r reading.Receiver) error
	// RemoveReceiver removes one; it is no error if there is none.
	RemoveReceiver(ctx context.Context, name string) error
	// TryReceiver has one told that it can be reached. The error says why it cannot.
	TryReceiver(ctx context.Context, name string) error
	// PushKey is the key by which browsers ask for messages of this node, "" where it has none.
	PushKey() string
}

// A ReceiverState is a receiver as its owner sees it.
type ReceiverState struct {
	reading.Receiver
	Shown   string // where it is, without what is secret
	Waiting int    // entries
}

// receiversPage is where the owner says where they are told.
type receiversPage struct {
	Receivers []receiverLine
	Filters   []reading.NamedFilter
	Key       string
	Browser   string // what the browser may be called
	MostMost  int
	Sent      url.Values // the form as it was sent, without the secret; nil for none
	Problem   string     // what is wrong with it
	Wanting   bool       // a secret was sent, and has to be again
}

// Kinds are the ways to be told elsewhere, in the order of the form.
func (p *receiversPage) Kinds() []choiceOfKind {
	return []choiceOfKind{{reading.Ntfy, "ntfy"}, {reading.Mail, "mail"}, {reading.Webhook, "webhook"},
		{reading.WebPush, "Web Push (an app’s subscription)"}}
}

// A choiceOfKind is a kind of receiver that the form offers.
type choiceOfKind struct {
	Kind reading.ReceiverKind
	Text string
}

// Chosen reports whether the form was sent with a filter.
func (p *receiversPage) Chosen(id reading.FilterID) bool {
	return slices.Contains(p.Sent["filter"], strconv.FormatInt(int64(id), 10))
}

type receiverLine struct {
	ReceiverState
	Of   string // the names of the filters
	When string
	Next moment
	Mute moment // until when nothing is sent, zero for not at all
}

func (h *Handler) receivers(r *http.Request) (view, error) { return h.receiversWith(r, "") }

// receiversWith is the page with the form as it was sent, if it was, and what is wrong with that.
func (h *Handler) receiversWith(r *http.Request, problem string) (view, error) {
	p := &receiversPage{Key: h.Source.PushKey(), MostMost: reading.MostMost,
		Sent: url.Values{"most": {strconv.Itoa(reading.DefaultMost)}}, Problem: problem}
	if problem != "" {
		p.Sent, p.Wanting = maps.Clone(r.PostForm), r.PostForm.Get("secret") != ""
		p.Sent.Del("secret")
	}
	v := view{Page: "receivers", Title: "Notifications", Nav: "/settings", Push: true, Body: p}
	if !loggedIn(r.Context()) {
		return v, nil
	}
	var err error
	if p.Filters, err = h.Shelf.Filters(r.Context()); err != nil {
		return view{}, err
	}
	list, err := h.Source.Receivers(r.Context())
	if err != nil {
		return view{}, err
	}
	for i := range list {
		x := &list[i]
		line := receiverLine{ReceiverState: *x, Of: "all filters", When: x.Hours.Words(),
			Next: moment{x.Next, h.now(r)}}
		if x.MutedAt(line.Next.Now) {
			line.Mute = moment{x.Muted, line.Next.Now}
		}
		if x.Only != nil {
			var names []string
			for j := range p.Filters {
				if slices.Contains(x.Only, p.Filters[j].ID) {
					names = append(names, p.Filters[j].Name)
				}
			}
			line.Of = cmp.Or(strings.Join(names, ", "), "nothing: its filters are gone")
		}
		p.Receivers = append(p.Receivers, line)
	}
	p.Browser = freeName(list)
	return v, nil
}

// freeName is what one more browser may be called.
func freeName(list []ReceiverState) string {
	name := "this browser"
	for n := 2; slices.ContainsFunc(list, func(r ReceiverState) bool { return r.Name == name }); n++ {
		name = fmt.Sprintf("browser %d", n)
	}
	return name
}

// errReceivers is for what only the owner may do.
var errReceivers = clientError{http.StatusForbidden, "Log in first",
	"Where you are told is shown and changed with an owner's password alone: anybody who uses this machine can open " +
		"this page, and would read along."}

// addReceiver adds a receiver as a form has it.
func (h *Handler) addReceiver(_ http.ResponseWriter, r *http.Request) (string, error) {
	x, err := receiverOf(r)
	if err == nil {
		err = h.Source.AddReceiver(r.Context(), x)
	}
	if err != nil {
		return "", inForm(noReceiver(err), func(problem string) (view, error) { return h.receiversWith(r, problem) })
	}
	return h.said(r, "/notifications", x.Name+" is added. Send it a message to see that it comes."), nil
}

// noReceiver is why a receiver was not added, in words where that is for who asked to mend.
func noReceiver(err error) error {
	return mendable(err, "It was not added", reading.ErrName, reading.ErrTold, reading.ErrReceiver,
		reading.ErrReceivers, reading.ErrNoFilter)
}

// receiverOf reads the form of a receiver. Its errors wrap reading.ErrReceiver.
func receiverOf(r *http.Request) (reading.Receiver, error) {
	x := reading.Receiver{
		Name: r.PostFormValue("name"), Kind: reading.ReceiverKind(r.PostFormValue("kind")),
		Address: r.PostFormValue("address"), Secret: r.PostFormValue("secret"), Server: r.PostFormValue("server"),
		Local: r.PostFormValue("local") != "",
	}
	for _, text := range r.PostForm["filter"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return x, reading.ErrNoFilter
		}
		x.Only = append(x.Only, reading.FilterID(id))
	}
	times := func(text string) (list []reading.TimeOfDay, err error) {
		for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
			t, err := reading.ParseTimeOfDay(part)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", reading.ErrReceiver, err)
			}
			list = append(list, t)
		}
		return list, nil
	}
	var err error
	if x.Hours.Digest, err = times(r.PostFormValue("digest")); err != nil {
		return x, err
	}
	quiet, err := times(r.PostFormValue("from") + " " + r.PostFormValue("to"))
	if err != nil {
		return x, err
	}
	switch {
	case len(quiet) == 0:
	case len(quiet) == 2 && quiet[0] != quiet[1]:
		x.Hours.QuietFrom, x.Hours.QuietTo = quiet[0], quiet[1]
	default:
		return x, fmt.Errorf("%w: quiet hours begin at one time of the day and end at another", reading.ErrReceiver)
	}
	if text := r.PostFormValue("most"); text != "" {
		if x.Hours.Most, err = strconv.Atoi(text); err != nil || x.Hours.Most < 1 {
			return x, fmt.Errorf("%w: want 1 to %d messages an hour, not %.20q", reading.ErrReceiver, reading.MostMost,
				text)
		}
	}
	return x, nil
}

// tryReceiver has a receiver told that it can be reached.
func (h *Handler) tryReceiver(_ http.ResponseWriter, r *http.Request) (string, error) {
	x, err := h.receiverNamed(r)
	if err != nil {
		return "", err
	}
	if err := h.Source.TryReceiver(r.Context(), x.Name); err != nil {
		return "", clientError{http.StatusBadGateway, x.Name + " was not told", sentence(err.Error())}
	}
	return h.said(r, "/notifications", x.Name+" has taken the message."), nil
}

// receiverNamed is the receiver that a form names.
func (h *Handler) receiverNamed(r *http.Request) (reading.Receiver, error) {
	list, err := h.Source.Receivers(r.Context())
	for i := range list {
		if list[i].Name == r.PostFormValue("name") {
			return list[i].Receiver, nil
		}
	}
	return reading.Receiver{}, cmp.Or(err, ErrNone)
}

// removeReceiver removes one, which can be undone but for what waited for it: where it is mute it stays so, and of its
// commands those are done that were not heard before.
func (h *Handler) removeReceiver(_ http.ResponseWriter, r *http.Request) (string, error) {
	gone, err := h.receiverNamed(r)
	if err != nil {
		return "", err
	}
	const back = "/notifications"
	if err := h.Source.RemoveReceiver(r.Context(), gone.Name); err != nil {
		return "", err
	}
	return h.canUndo(r, back, undo{What: gone.Name + " is removed.", Back: back,
		undo: func(ctx context.Context) error { return noReceiver(h.Source.AddReceiver(ctx, gone)) }}), nil
}

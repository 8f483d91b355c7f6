// Package notify tells people of what their filters catch: by webhooks, ntfy, mail and Web Push. All of it goes out
// from the node, so that it works at home. What is to be told waits in the archive until the receiver has taken it.
package notify

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"feedex/internal/sleep"
	"feedex/internal/when"
	"feedex/notify/webpush"
	"feedex/reading"
	"feedex/safehtml"
)

const (
	// deliverTime is how long a receiver may take to take a message.
	deliverTime = 30 * time.Second
	// firstRetry doubles with every failure in a row, up to lastRetry. A receiver that does not come back is tried for
	// ever; only reading.MaxWaiting entries wait for it.
	firstRetry, lastRetry = time.Minute, 6 * time.Hour
	// bareEach is after how many failures in a row it is tried whether a receiver that fails takes a message without
	// what others wrote: that may be what it fails by.
	bareEach = 8
	// noteAgain is after what time it is tried again to store how a delivery went.
	noteAgain = time.Minute
	// maxTold is of how many entries a message tells at most; those beyond go with the next.
	maxTold = 100
	// longestWait is as long as a receiver may ask to be left alone.
	longestWait = 24 * time.Hour
	// look is after what time at most the receivers are gone through.
	look = 10 * time.Minute
	// maxWorking is how many deliveries are under way at a time.
	maxWorking = 4
)

// A Store keeps receivers and what waits for them. A change is durable when a method returns nil.
type Store interface {
	reading.ReceiverList
	// These are those of reading.Messages.
	Told(ctx context.Context, to reading.Receiver, at time.Time, messages []reading.MessageID, more int) error
	NotTold(ctx context.Context, to reading.Receiver, problem string, next time.Time, ended bool) error
	Heard(ctx context.Context, at reading.Receiver, c reading.Command) error
	Answered(ctx context.Context, at reading.Receiver, message string) error
	Deaf(ctx context.Context, at reading.Receiver, problem string) error
}

// Config holds the dependencies of a Teller.
type Config struct {
	Store Store
	// Dial and DialLocal connect to receivers: Dial to the public Internet alone, DialLocal also to the private
	// network, for receivers that the owner has there.
	Dial, DialLocal func(ctx context.Context, network, address string) (net.Conn, error)
	// Sender is who sends by Web Push.
	Sender webpush.Sender
	// Do does what a person says by a message that was sent then, and returns what is answered, which is not "". The
	// error means that it is to be tried again; what was done already may then be done once more. Default: nobody is
	// heard.
	Do func(ctx context.Context, p reading.PersonID, text string, sent time.Time) (answer string, err error)
	// Roots are the authorities that vouch for receivers. Default: those of this machine.
	Roots *x509.CertPool
	// Log takes what went wrong. Default: nowhere.
	Log *slog.Logger
}

// A Teller tells receivers what waits for them. Its methods may be called by several goroutines at once.
type Teller struct {
	Config
	public, local http.Client
	safe          *safehtml.Sanitizer
	wake          chan struct{}
	ears          map[earID]context.CancelFunc // of Run alone

	mu   sync.Mutex
	busy map[reading.ReceiverID]bool // a delivery is under way
}

// New makes a Teller. It tells while Run does.
func New(cfg Config) *Teller {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Teller{
		Config: cfg, public: newClient(cfg.Dial, cfg.Roots), local: newClient(cfg.DialLocal, cfg.Roots),
		safe: safehtml.New(), wake: make(chan struct{}, 1), ears: make(map[earID]context.CancelFunc),
		busy: make(map[reading.ReceiverID]bool),
	}
}

// newClient makes a client that follows no redirect: it would lead away from what the owner named.
func newClient(dial func(context.Context, string, string) (net.Conn, error), roots *x509.CertPool) http.Client {
	return http.Client{
		Transport: &http.Transport{
			DialContext: dial, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots},
			TLSHandshakeTimeout: deliverTime, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CloseIdle closes the connections that are not in use.
func (t *Teller) CloseIdle() {
	t.public.CloseIdleConnections()
	t.local.CloseIdleConnections()
}

// Wake says that something new may wait, or that a receiver was changed.
func (t *Teller) Wake() {
	select {
	case t.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Try sends a receiver a message that says that it comes. Nothing is noted of how that goes.
func (t *Teller) Try(ctx context.Context, r reading.Receiver) error {
	return t.sendInTime(ctx, &r, &bulletin{id: fmt.Sprintf("%s-try-%d", t.idOf(&r), time.Now().UnixNano())})
}

// Run tells receivers what waits for them, as it comes and as they want it, and does what they command, until ctx ends.
// Deliveries that are under way are given up then.
func (t *Teller) Run(ctx context.Context) {
	var workers sync.WaitGroup
	defer workers.Wait()
	working := make(chan struct{}, maxWorking)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-t.wake:
		}
		hear := func(r reading.Receiver) context.CancelFunc {
			hearing, stop := context.WithCancel(ctx)
			workers.Go(func() { t.hear(hearing, r) })
			return stop
		}
		next, err := t.round(ctx, hear, func(r reading.Receiver, b *bulletin) {
			workers.Go(func() {
				select {
				case working <- struct{}{}:
					note := t.deliver(ctx, &r, b)
					<-working
					t.note(ctx, &r, note)
				case <-ctx.Done():
				}
				t.mu.Lock()
				delete(t.busy, r.ID)
				t.mu.Unlock()
				t.Wake()
			})
		})
		if err != nil && ctx.Err() == nil {
			t.Log.Error("what waits for receivers was not read", "err", err)
		}
		timer.Reset(next)
	}
}

// round has delivered what is due and heard who may command, and returns after what time to look again.
func (t *Teller) round(ctx context.Context, hear func(reading.Receiver) context.CancelFunc,
	deliver func(reading.Receiver, *bulletin)) (time.Duration, error) {
	list, err := t.Store.Receivers(ctx)
	if err != nil {
		return look, fmt.Errorf("load receivers: %w", err)
	}
	t.hearThese(list, hear)
	now, again := time.Now(), look
	var failed error
	for i := range list {
		r := &list[i]
		t.mu.Lock()
		busy := t.busy[r.ID]
		t.mu.Unlock()
		if r.Ended || busy {
			continue
		}
		if !when.Due(now, r.Next, longestWait) {
			again = min(again, r.Next.Sub(now))
			continue
		}
		b, due, err := t.due(ctx, r, now)
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
		case b == nil: // nothing waits
		case due.After(now):
			again = min(again, due.Sub(now))
		default:
			t.mu.Lock()
			t.busy[r.ID] = true
			t.mu.Unlock()
			deliver(*r, b)
		}
	}
	return again, failed
}

// due is what waits for a receiver, nil for nothing, and when it may be sent.
func (t *Teller) due(ctx context.Context, r *reading.Receiver, now time.Time) (*bulletin, time.Time, error) {
	waiting, more, err := t.Store.Waiting(ctx, r.ID, maxTold)
	if err != nil {
		return nil, now, fmt.Errorf("load what waits for the receiver %q: %w", r.Name, err)
	}
	if len(waiting) == 0 {
		return nil, now, nil
	}
	told, err := t.Store.ToldSince(ctx, r.ID, now.Add(-time.Hour))
	if err != nil {
		return nil, now, fmt.Errorf("load what the receiver %q was told: %w", r.Name, err)
	}
	for i := range waiting {
		m := &waiting[i]
		m.Title = cmp.Or(m.Title, safehtml.Inert(t.safe.Opening(m.Lead, safehtml.LongestOpening)))
	}
	return newBulletin(t.idOf(r), waiting, more), r.Due(now, waiting[0].Arrived, told), nil
}

// idOf is what the IDs of a receiver's bulletins begin with. The node's key tells them from those of other nodes.
func (t *Teller) idOf(r *reading.Receiver) string {
	key := t.Sender.PublicKey()
	return fmt.Sprintf("feedex-%s-%d", key[:min(22, len(key))], r.ID)
}

// deliver sends a bulletin, and returns what notes how that went; nil where the node ended meanwhile, so that it is
// sent again.
func (t *Teller) deliver(ctx context.Context, r *reading.Receiver, b *bulletin) (note func(context.Context) error) {
	err := t.sendInTime(ctx, r, b)
	var refused declined
	if errors.As(err, &refused) && (refused.unfit || refused.fails && r.Failures%bareEach == bareEach-1) {
		// Something in it may be more than the receiver takes, for ever: it is told that there is something. Who makes
		// up what no server of mail takes is not to have it told of nothing else.
		takes := func(b *bulletin) bool { return t.sendInTime(ctx, r, b) == nil }
		hearsay := slices.ContainsFunc(b.messages, func(m reading.Message) bool { return m.Unconfirmed })
		if hearsay && takes(b.bare(false)) || takes(b.bare(true)) {
			err = nil
		}
	}
	now := time.Now()
	switch {
	case err == nil:
		ids := make([]reading.MessageID, len(b.messages))
		for i := range b.messages {
			ids[i] = b.messages[i].ID
		}
		return func(ctx context.Context) error { return t.Store.Told(ctx, *r, now, ids, b.more) }
	case ctx.Err() != nil:
		return nil
	}
	t.Log.Info("a receiver was not told", "receiver", r.Name, "err", err)
	wait := max(min(refused.after, longestWait), when.Doubled(firstRetry, lastRetry, r.Failures))
	problem := err.Error()
	if refused.gone {
		problem += "; nothing more is sent there: add it anew, or remove it"
	}
	return func(ctx context.Context) error {
		return t.Store.NotTold(ctx, *r, problem, now.Add(wait), refused.gone)
	}
}

func (t *Teller) sendInTime(ctx context.Context, r *reading.Receiver, b *bulletin) error {
	return inTime(ctx, func(ctx context.Context) error { return t.send(ctx, r, b) })
}

// maxProblem is how long the text of an error of a receiver is, in bytes.
const maxProblem = 1000

// A brief is an error as one line that is read through: receivers write into it, by a status, by what a mail server
// says, or by the names in a certificate.
type brief struct{ error }

func (b brief) Error() string { return shortened(safehtml.Line(b.error.Error()), maxProblem) }

func (b brief) Unwrap() error { return b.error }

// errSlow is for a receiver that takes nothing in deliverTime.
var errSlow = fmt.Errorf("no answer within %.0f s", deliverTime.Seconds())

// inTime sends something, and says in our words that it took too long: each library has others. The error is a brief.
func inTime(ctx context.Context, send func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deliverTime, errSlow)
	defer cancel()
	err := send(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errSlow):
		return errSlow
	}
	return brief{err}
}

// note stores how a delivery went, also where the node ends meanwhile. Where that cannot be stored, as on a full disk,
// it tries again: the receiver is busy until then, or it would be told the same again and again.
func (t *Teller) note(ctx context.Context, r *reading.Receiver, store func(context.Context) error) {
	if store == nil {
		return
	}
	for {
		err := store(context.WithoutCancel(ctx))
		if err == nil {
			return
		}
		t.Log.Error("how it went with a receiver was not stored", "receiver", r.Name, "err", err)
		if sleep.For(ctx, noteAgain) != nil {
			return
		}
	}
}

// send sends a bulletin to a receiver.
func (t *Teller) send(ctx context.Context, r *reading.Receiver, b *bulletin) error {
	switch r.Kind {
	case reading.Webhook:
		return t.postWebhook(ctx, r, b)
	case reading.Ntfy:
		return t.postNtfy(ctx, r, b)
	case reading.Mail:
		return t.mail(ctx, r, b)
	case reading.WebPush:
		return t.push(ctx, r, b)
	}
	return fmt.Errorf("%w: there is no kind %.20q", reading.ErrReceiver, r.Kind)
}

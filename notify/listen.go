package notify

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"time"

	"feedex/internal/sleep"
	"feedex/internal/when"
	"feedex/reading"
)

const (
	// silence is how long a server may say nothing: ntfy says every 45 seconds that it is there.
	silence = 3 * time.Minute
	// hearAgain is after what time a server that ended the stream is asked again, and lastHearing after what time at
	// most one is that failed.
	hearAgain, lastHearing = 10 * time.Second, 30 * time.Minute
	// maxCommands are done in an hour; others wait at the server.
	maxCommands = 60
	// maxHeard is how long a line may be, in bytes: ntfy's messages have 4096. A longer one is read past.
	maxHeard = 64 << 10
	// maxStream is how much a server may say until it is asked again, in bytes: far more than it keeps for a topic.
	maxStream = 16 << 20
	// maxMessageID is how long the ID of a message may be, in bytes: ntfy's have 12.
	maxMessageID = 64
	// noteHeard is how often it is noted up to which message a topic was gone through, where none was a command.
	noteHeard = time.Minute
)

// errNoNtfy is for a server that answers, and not as ntfy does.
var errNoNtfy = errors.New("what answers there is no ntfy server")

// errTooMuch is for a server that says more than maxStream.
var errTooMuch = errors.New("it says too much")

// errSilent is for a server that says nothing for too long.
var errSilent = errors.New("it says nothing")

// An ear hears the commands that come to a receiver. It belongs to one goroutine.
type ear struct {
	*Teller
	at     reading.Receiver
	noted  time.Time   // when it was last noted that at.Heard is gone through
	behind bool        // it is not noted yet
	passed int         // messages since then that are no commands
	done   []time.Time // when commands of the last hour were done
	opened bool        // the server has answered as ntfy does
}

// An earID is what makes an ear another one where it changes.
type earID struct {
	receiver               reading.ReceiverID
	address, secret, topic string
	local                  bool
	word                   reading.Hash
}

// hearThese has the receivers of a list heard that take commands, as they are now, and nobody else.
func (t *Teller) hearThese(list []reading.Receiver, hear func(reading.Receiver) (stop context.CancelFunc)) {
	wanted := make(map[earID]bool)
	for i := range list {
		r := &list[i]
		if r.Commands == "" || r.Ended || t.Do == nil {
			continue
		}
		id := earID{r.ID, r.Address, r.Secret, r.Commands, r.Local, r.Word}
		wanted[id] = true
		if t.ears[id] == nil {
			t.ears[id] = hear(*r)
		}
	}
	for id, stop := range t.ears {
		if !wanted[id] {
			stop()
			delete(t.ears, id)
		}
	}
}

// hear does what is commanded by messages until ctx ends.
func (t *Teller) hear(ctx context.Context, r reading.Receiver) {
	e := &ear{Teller: t, at: r}
	failures := 0
	for {
		began := time.Now()
		e.opened = false
		err := e.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if e.opened && time.Since(began) >= firstRetry {
			failures = 0
		}
		wait := when.Doubled(firstRetry, lastHearing, failures)
		var full fullHour
		var refused declined
		switch {
		case errors.As(err, &full):
			wait = time.Duration(full)
		case errors.As(err, &refused):
			wait = max(wait, min(refused.after, longestWait))
		case err == nil && failures == 0:
			wait = hearAgain
		}
		failures++
		problem := ""
		if err != nil {
			problem = brief{err}.Error()
		}
		e.tell(ctx, problem)
		if sleep.For(ctx, wait) != nil {
			return
		}
	}
}

// tell notes why commands are not heard, where that is something new.
func (e *ear) tell(ctx context.Context, problem string) {
	if problem == e.at.Deaf {
		return
	}
	if problem != "" {
		e.Log.Info("commands are not heard", "receiver", e.at.Name, "err", problem)
	}
	if err := e.Store.Deaf(ctx, e.at, problem); err != nil {
		e.Log.Error("how it goes with commands was not stored", "receiver", e.at.Name, "err", err)
		return
	}
	e.at.Deaf = problem
}

// session answers what was not answered, and hears what comes until the stream ends. The error is nil where its server
// ended it.
func (e *ear) session(ctx context.Context) error {
	open, err := e.Store.Unanswered(ctx, e.at.ID)
	if err != nil {
		return fmt.Errorf("load what is to be answered: %w", err)
	}
	for _, c := range open {
		err := e.answerOrDrop(ctx, c)
		if errors.Is(err, errUnsent) && ctx.Err() == nil {
			e.Log.Info("answers to commands wait", "receiver", e.at.Name, "err", err)
			break // commands are heard all the same
		}
		if err != nil {
			return err
		}
	}
	if err := e.room(time.Now()); err != nil {
		return err
	}
	listening, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	patience := time.AfterFunc(deliverTime, func() { stop(errSilent) })
	defer patience.Stop()
	resp, err := e.stream(listening)
	if err == nil {
		defer resp.Body.Close()
		err = e.listen(ctx, resp.Body, patience)
	}
	if err := e.note(ctx); err != nil {
		return err
	}
	if why := context.Cause(listening); err != nil && why != nil {
		return why
	}
	return err
}

// stream asks for what was not heard of a topic yet, and for what comes.
func (e *ear) stream(ctx context.Context) (*http.Response, error) {
	u, err := url.Parse(e.at.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", reading.ErrReceiver, withoutAddress(err))
	}
	since := e.at.Heard
	if since == "" {
		since = "all"
	}
	u.Path = path.Join(path.Dir(u.Path), e.at.Commands, "json")
	query := u.Query() // which may be what lets in
	query.Set("since", since)
	u.RawQuery = query.Encode()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", reading.ErrReceiver, withoutAddress(err))
	}
	return e.ask(&e.at, q, ntfyHeader(&e.at))
}

// A ntfyLine is a line of ntfy's stream.
type ntfyLine struct {
	ID      string `json:"id"`
	Time    int64  `json:"time"`
	Event   string `json:"event"`
	Message string `json:"message"`
}

// listen goes through a stream. Each line is given so much patience; a command has its own.
func (e *ear) listen(ctx context.Context, stream io.Reader, patience *time.Timer) error {
	said := &io.LimitedReader{R: stream, N: maxStream}
	lines := bufio.NewReaderSize(said, maxHeard)
	for {
		line, err := lines.ReadSlice('\n')
		long := false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			_, err = lines.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF) && said.N == 0:
			return errTooMuch
		case errors.Is(err, io.EOF) && e.opened:
			return nil
		case errors.Is(err, io.EOF):
			return errNoNtfy
		case err != nil:
			return withoutAddress(err)
		}
		var h ntfyLine
		if long || json.Unmarshal(line, &h) != nil {
			continue
		}
		if !e.opened && h.Event == "open" {
			e.opened = true
			e.tell(ctx, "")
		}
		if h.Event == "message" && h.ID != "" && len(h.ID) <= maxMessageID && e.opened {
			patience.Stop()
			if err := e.take(ctx, &h); err != nil {
				return err
			}
		}
		if e.behind && time.Since(e.noted) >= noteHeard {
			if err := e.note(ctx); err != nil {
				return err
			}
		}
		patience.Reset(silence)
	}
}

// take does what a message says, if it is a command. What has no word before it is passed over without a sign, so that
// nobody learns anything by it.
func (e *ear) take(ctx context.Context, h *ntfyLine) error {
	text, own := e.at.Word.Ordered(h.Message)
	now, sent := time.Now(), time.Unix(h.Time, 0)
	if own {
		known, err := e.Store.WasHeard(ctx, e.at.ID, h.ID)
		if err != nil {
			return fmt.Errorf("load which commands were done: %w", err)
		}
		own = !known && now.Sub(sent) <= reading.MessageAge
	}
	if !own {
		e.at.Heard, e.behind = h.ID, true
		e.passed++
		return nil
	}
	if err := e.room(now); err != nil {
		return err
	}
	answer, err := e.Do(ctx, e.at.Person, text, sent)
	if err != nil {
		return err
	}
	e.done = append(e.done, now)
	c := reading.Command{Message: h.ID, Sent: sent, Answer: answer}
	if err := e.Store.Heard(ctx, e.at, c); err != nil {
		return fmt.Errorf("store that a command was done: %w", err)
	}
	e.at.Heard, e.behind, e.noted = h.ID, false, now
	return e.answer(ctx, c)
}

// room is an error where as many commands were done in the last hour as may be.
func (e *ear) room(now time.Time) error {
	e.done = slices.DeleteFunc(e.done, func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	if len(e.done) < maxCommands {
		return nil
	}
	return fullHour(e.done[0].Add(time.Hour).Sub(now))
}

// fullHour is the error where as many commands were done in an hour as may be: how long others wait.
type fullHour time.Duration

func (fullHour) Error() string {
	return fmt.Sprintf("%d commands were done in an hour: others wait", maxCommands)
}

// note stores up to which message the topic was gone through.
func (e *ear) note(ctx context.Context) error {
	if !e.behind {
		return nil
	}
	if err := e.Store.Heard(ctx, e.at, reading.Command{Message: e.at.Heard}); err != nil {
		return fmt.Errorf("store what was heard: %w", err)
	}
	e.Log.Debug("messages were no commands", "receiver", e.at.Name, "messages", e.passed)
	e.behind, e.noted, e.passed = false, time.Now(), 0
	return nil
}

// errUnsent means that the server did not take an answer.
var errUnsent = errors.New("answer a command")

// answerOrDrop answers a command of before, if it is not so old that nobody waits for that any more.
func (e *ear) answerOrDrop(ctx context.Context, c reading.Command) error {
	if time.Since(c.Sent) <= reading.MessageAge {
		return e.answer(ctx, c)
	}
	if err := e.Store.Answered(ctx, e.at, c.Message); err != nil {
		return fmt.Errorf("drop an answer that is too old: %w", err)
	}
	return nil
}

// answer sends what is answered to a command.
func (e *ear) answer(ctx context.Context, c reading.Command) error {
	err := inTime(ctx, func(ctx context.Context) error {
		return e.publishNtfy(ctx, &e.at, ntfyBody{Title: "feedex", Message: shortened(c.Answer, maxNtfyText)})
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	if err := e.Store.Answered(ctx, e.at, c.Message); err != nil {
		return fmt.Errorf("store that a command was answered: %w", err)
	}
	return nil
}

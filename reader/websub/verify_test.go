package websub_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Only a subscriber that agrees is subscribed or unsubscribed.
func TestVerificationOfIntent(t *testing.T) {
	for name, refuse := range map[string]func(s *subscriber){
		"404":          func(s *subscriber) { s.code = 404 },
		"a redirect":   func(s *subscriber) { s.code = 302 },
		"another word": func(s *subscriber) { s.echo = func(string) string { return "yes" } },
		"more":         func(s *subscriber) { s.echo = func(c string) string { return c + "\n" } },
		"nobody there": func(s *subscriber) { s.err = errors.New("refused") },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			refuse(s.sub)
			s.ask()
			if len(s.stored()) != 0 || len(s.sub.asked) > 1 {
				t.Errorf("%s: subscribed: %+v, asked %d times", name, s.stored(), len(s.sub.asked))
			}
			s.sub.code, s.sub.err, s.sub.echo = 0, nil, nil
			s.ask()
			refuse(s.sub)
			s.ask("hub.mode", "unsubscribe")
			if len(s.stored()) != 1 {
				t.Errorf("%s: unsubscribed", name)
			}
		})
	}
}

// A lease is as long as was asked for within bounds, and nothing is delivered when it is over.
func TestLeases(t *testing.T) {
	for asked, want := range map[string]time.Duration{"": 240 * time.Hour, "0": 240 * time.Hour, "1": time.Hour,
		"7200": 2 * time.Hour, "999999999999": 720 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := play(t)
			defer s.end()
			s.ask("hub.lease_seconds", asked)
			if got := s.sub.asked[0].Get("hub.lease_seconds"); got != fmt.Sprint(int(want.Seconds())) {
				t.Errorf("a lease of %q is %s seconds", asked, got)
			}
			time.Sleep(want - time.Second)
			s.publish(2)
			s.wantBodies(`from "1" to "2"`)
			time.Sleep(2 * time.Second)
			s.publish(3)
			s.wantBodies()
			if len(s.stored()) != 0 {
				t.Errorf("a subscription outlives its lease: %+v", s.stored())
			}
		})
	}
}

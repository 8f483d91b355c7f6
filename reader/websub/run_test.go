package websub_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// A hub that starts again knows its subscribers, and what each has.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask("hub.secret", "x")
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		s.stop()
		s.feeds.version = 5
		s.start()
		s.wantBodies(`from "2" to "5"`)
		if s.sub.last.Header.Get("X-Hub-Signature") == "" {
			t.Error("not signed any more")
		}
	})
}

// What failed is tried again at once where the next time is further away than any: the clock was set back.
func TestATimeTooFarAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.stop()
		s.store.list[0].Failures, s.store.list[0].Next = 1, time.Now().AddDate(10, 0, 0)
		s.feeds.version = 2
		s.start()
		s.wantBodies(`from "1" to "2"`)
	})
}

// A feed that changed without a word is delivered within ten minutes.
func TestLooksByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.feeds.mu.Lock()
		s.feeds.version = 2
		s.feeds.mu.Unlock()
		time.Sleep(10*time.Minute + time.Second)
		s.wantBodies(`from "1" to "2"`)
	})
}

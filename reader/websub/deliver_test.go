package websub_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedex/reader/websub"
)

// A delivery that failed is tried again, ever less often, and includes what came meanwhile; a dead subscriber is
// forgotten.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask("hub.lease_seconds", "2592000")
		s.answer(500, nil)
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		s.publish(3)
		s.wantBodies() // not before a minute is over
		time.Sleep(59 * time.Second)
		s.wantBodies()
		time.Sleep(2 * time.Second)
		s.wantBodies(`from "1" to "3"`)
		s.answer(0, errors.New("refused"))
		time.Sleep(3 * time.Minute)
		s.answer(0, nil)
		time.Sleep(5 * time.Minute)
		s.wantBodies(`from "1" to "3"`)
		if x := s.stored()[0]; x.Failures != 0 || x.ETag != `"3"` {
			t.Errorf("after a success: %+v", x)
		}
		s.answer(503, nil)
		s.publish(4)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if n := s.delivered(); n < 10 || n > 16 || len(s.stored()) != 1 {
			t.Errorf("%d tries in ten hours, %d subscriptions", n, len(s.stored()))
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if n := s.delivered(); n != 16 || len(s.stored()) != 0 {
			t.Errorf("%d tries at last, %d subscriptions", n, len(s.stored()))
		}
	})
}

// What is too large to be pushed ends no subscription, and what comes after it is pushed.
func TestWhatIsTooLargeIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.feeds.more = websub.MaxDelivery
		s.publish(2)
		s.wantBodies()
		s.feeds.more = websub.MaxDelivery - 100
		s.publish(3)
		if n := s.delivered(); n != 1 || !strings.HasPrefix(s.sub.bodies[0], `from "2" to "3"`) {
			t.Errorf("%d deliveries after what was too large", n)
		}
	})
}

// §7: 410 is the subscriber's way to end it.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.answer(410, nil)
		s.publish(2)
		s.answer(0, nil)
		s.publish(3)
		s.wantBodies(`from "1" to "2"`)
		if len(s.stored()) != 0 {
			t.Errorf("still there: %+v", s.stored())
		}
	})
}

// Redirects are failures, and lead nowhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t)
		defer s.end()
		s.ask()
		s.answer(307, nil)
		s.publish(2)
		s.wantBodies(`from "1" to "2"`)
		if s.sub.last.URL.Host != "127.0.0.1:8080" || s.stored()[0].Failures != 1 {
			t.Errorf("went to %s, %+v", s.sub.last.URL, s.stored())
		}
	})
}

package websub

import (
	"context"
	"testing"
	"time"

	"feedex/archive"
)

// A forgetful store does something while it forgets a subscription.
type forgetful struct {
	kept map[key]bool
	then func(key)
}

func (s *forgetful) HubSubscriptions(context.Context) ([]archive.HubSubscription, error) {
	return nil, nil
}

func (s *forgetful) Keep(_ context.Context, x archive.HubSubscription) error {
	s.kept[keyOf(&x)] = true
	return nil
}

func (s *forgetful) Drop(_ context.Context, callback, topic string) error {
	k := key{callback, topic}
	s.then(k)
	delete(s.kept, k)
	return nil
}

// A subscription that is over is forgotten unless it is renewed meanwhile. The store keeps none while it forgets one.
func TestARenewalIsNotForgotten(t *testing.T) {
	now := time.Now()
	a, b := key{"http://a.example/", "topic"}, key{"http://b.example/", "topic"}
	s := &forgetful{kept: map[key]bool{a: true, b: true}}
	h := New(Config{Store: s})
	of := func(k key, expires time.Time) *activeSubscription {
		return &activeSubscription{HubSubscription: archive.HubSubscription{Callback: k.callback, Topic: k.topic,
			Expires: expires}}
	}
	over := map[key]*activeSubscription{a: of(a, now), b: of(b, now)}
	h.subs[a], h.subs[b] = over[a], over[b]
	var renewed key
	s.then = func(k key) {
		if h.keeping.TryLock() {
			h.keeping.Unlock()
			t.Error("another subscription could be kept meanwhile")
		}
		if renewed == (key{}) { // the other one is
			renewed = map[key]key{a: b, b: a}[k]
			s.kept[renewed], h.subs[renewed] = true, of(renewed, now.Add(time.Hour))
		}
	}
	want := func(subscriptions int) {
		t.Helper()
		if len(h.subs) != subscriptions || len(s.kept) != subscriptions {
			t.Fatalf("there are %d subscriptions, %d in the store; want %d", len(h.subs), len(s.kept), subscriptions)
		}
	}
	h.due(t.Context(), now)
	want(1)
	h.dropIf(t.Context(), over[renewed]) // a delivery that began before the renewal was answered with 410
	want(1)
	h.dropIf(t.Context(), h.subs[renewed]) // and so is the next
	want(0)
}

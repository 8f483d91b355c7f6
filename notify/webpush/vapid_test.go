package webpush_test

import (
	"testing"
	"time"

	"feedex/notify/webpush"
	"feedex/notify/webpush/webpushtest"
)

func TestAuthorization(t *testing.T) {
	secret := []byte("thirty-two bytes that nobody has")
	first, err := webpush.NewSender(secret)
	if err != nil {
		t.Fatal(err)
	}
	s, err := webpush.NewSender(secret)
	if err != nil || s.PublicKey() != first.PublicKey() {
		t.Fatalf("the key of the same secret is %s, %v; want %s", s.PublicKey(), err, first.PublicKey())
	}
	s.Contact = "mailto:someone@example.com"
	now := time.Date(2026, 11, 27, 2, 0, 0, 0, time.UTC)
	const origin = "https://push.example:8443"
	for range 64 { // numbers of a signature that begin with zeros are shorter
		header, err := s.Authorization(origin+"/a/b?c", now)
		if err != nil {
			t.Fatal(err)
		}
		claim, err := webpushtest.Verify(header, origin, now)
		if err != nil || claim.Key != s.PublicKey() || claim.Subject != s.Contact {
			t.Fatalf("%s: %+v, %v", header, claim, err)
		}
		for _, days := range []time.Duration{1, -1} {
			if _, err := webpushtest.Verify(header, origin, now.Add(days*24*time.Hour)); err == nil {
				t.Errorf("it is good after %d days", days)
			}
		}
		if _, err := webpushtest.Verify(header, "https://other.example", now); err == nil {
			t.Error("it is good at another push service")
		}
	}
	if other, err := webpush.NewSender(secret[1:]); err != nil || other.PublicKey() == s.PublicKey() {
		t.Errorf("two secrets have one key, %v", err)
	}
	var none webpush.Sender
	if header, err := none.Authorization(origin, now); err == nil || none.PublicKey() != "" {
		t.Errorf("who has no key sends %s", header)
	}
}

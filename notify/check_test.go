package notify_test

import (
	"strings"
	"testing"

	"feedex/notify"
	"feedex/notify/webpush/webpushtest"
	"feedex/reading"
)

func TestChecked(t *testing.T) {
	browser, err := webpushtest.New("https://push.example/x")
	if err != nil {
		t.Fatal(err)
	}
	word := reading.WordHash("abcd")
	for _, c := range []struct {
		kind  reading.ReceiverKind
		topic string
		word  reading.Hash
		good  bool
	}{
		{reading.Ntfy, "orders", word, true},
		{reading.Ntfy, "orders", reading.Hash{}, false},
		{reading.Ntfy, "", word, false},
		{reading.Ntfy, "or/ders", word, false},
		{reading.Ntfy, strings.Repeat("o", 65), word, false},
		{reading.Webhook, "orders", word, false},
	} {
		r := reading.Receiver{Name: "a", Kind: c.kind, Address: "https://ntfy.example/a", Commands: c.topic,
			Word: c.word}
		if _, err := notify.Checked(r); (err == nil) != c.good {
			t.Errorf("%s with commands at %q: %v", c.kind, c.topic, err)
		}
	}
	for secret, good := range map[string]bool{
		"": true, "any words": true, "whsec_YSBrZXk=": true, "whsec_a key": false, "whsec_": false,
	} {
		r := reading.Receiver{Name: "a", Kind: reading.Webhook, Address: "https://hook.example/a", Secret: secret}
		if _, err := notify.Checked(r); (err == nil) != good {
			t.Errorf("a webhook with the secret %q: %v", secret, err)
		}
	}
	for _, c := range []struct {
		kind            reading.ReceiverKind
		address, server string
		local, good     bool
	}{
		{reading.Webhook, "https://hook.example/a?b=c", "", false, true},
		{reading.Webhook, "http://hook.example/", "", false, false},
		{reading.Webhook, "http://192.168.0.2:8080/", "", true, true},
		{reading.Webhook, "https://me:secret@hook.example/", "", false, false},
		{reading.Webhook, "https://hook.example/", "smtp://localhost", false, false},
		{reading.Webhook, "hook.example", "", false, false},
		{reading.Webhook, "https://", "", false, false},
		{reading.Webhook, "file:///etc/passwd", "", true, false},
		{reading.Ntfy, "https://ntfy.example/topic", "", false, true},
		{reading.Ntfy, "https://ntfy.example/", "", false, false},
		{reading.Ntfy, "https://ntfy.example/topic/", "", false, false},
		{reading.Mail, "me@example.com", "", false, true},
		{reading.Mail, "me@example.com", "smtps://me@mail.example", false, true},
		{reading.Mail, "me@example.com", "smtps://me:secret@mail.example", false, false},
		{reading.Mail, "me@example.com", "smtp://mail.example:0", false, false},
		{reading.Mail, "me@example.com", "smtp://mail.example/path", false, false},
		{reading.Mail, "me@example.com", "https://mail.example", false, false},
		{reading.Mail, "me@example.com, you@example.com", "", false, false},
		{reading.Mail, "me@example.com\r\nRCPT TO:<all@example.com>", "", false, false},
		{reading.WebPush, string(browser.Subscription()), "", false, true},
		{reading.WebPush, "{}", "", false, false},
		{"pigeon", "https://hook.example/", "", false, false},
	} {
		r := reading.Receiver{Name: "a", Kind: c.kind, Address: c.address, Server: c.server, Local: c.local}
		got, err := notify.Checked(r)
		if (err == nil) != c.good {
			t.Errorf("%s %s %s: %v", c.kind, c.address, c.server, err)
		}
		if c.good && (got.Hours.Most != reading.DefaultMost ||
			c.kind == reading.Mail && got.Local != (c.server == "")) {
			t.Errorf("%s %s %s is kept as %+v", c.kind, c.address, c.server, got)
		}
	}
}

package notify

import (
	"cmp"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"strings"

	"feedex/notify/webpush"
	"feedex/reading"
)

// Checked is a receiver as it is kept: its name and bounds as in reading, and its address as its kind wants it. The
// error wraps reading.ErrReceiver, reading.ErrName or webpush.ErrSubscription.
func Checked(r reading.Receiver) (reading.Receiver, error) {
	r.Address, r.Secret = strings.TrimSpace(r.Address), strings.TrimSpace(r.Secret)
	r.Hours.Most = cmp.Or(r.Hours.Most, reading.DefaultMost)
	r, err := r.Checked()
	if err != nil {
		return r, err
	}
	if r.Server != "" && r.Kind != reading.Mail {
		return r, fmt.Errorf("%w: a server is named for mail alone", reading.ErrReceiver)
	}
	if err := checkCommands(&r); err != nil {
		return r, err
	}
	switch r.Kind {
	case reading.Webhook:
		if _, err = checkURL(&r); err == nil {
			_, err = webhookKey(r.Secret)
		}
	case reading.Ntfy:
		var u *url.URL
		if u, err = checkURL(&r); err == nil && (strings.Trim(u.Path, "/") == "" || strings.HasSuffix(u.Path, "/")) {
			err = fmt.Errorf("%w: want the address of a topic, such as https://ntfy.example/TOPIC", reading.ErrReceiver)
		}
	case reading.Mail:
		a, parsed := mail.ParseAddress(r.Address)
		if parsed != nil {
			return r, fmt.Errorf("%w: %.60q is no address of mail: want NAME@HOST", reading.ErrReceiver, r.Address)
		}
		r.Address = a.Address
		var server mailServer
		if server, err = readMailServer(r.Server); err == nil && server.here() {
			r.Local = true // which is what the name says
		}
	case reading.WebPush:
		_, err = webpush.ParseSubscription([]byte(r.Address))
	default:
		err = fmt.Errorf("%w: %.20q: want %s, %s, %s or %s", reading.ErrReceiver, r.Kind, reading.Webhook, reading.Ntfy,
			reading.Mail, reading.WebPush)
	}
	return r, err
}

// checkCommands says why a receiver cannot be commanded as it is to be.
func checkCommands(r *reading.Receiver) error {
	named := r.Commands != ""
	switch {
	case named && r.Kind != reading.Ntfy:
		return fmt.Errorf("%w: commands are heard at %s alone", reading.ErrReceiver, reading.Ntfy)
	case named && !topicName.MatchString(r.Commands):
		return fmt.Errorf("%w: %.80q: want the name of a topic for commands: 1 to 64 letters, digits, _ and -",
			reading.ErrReceiver, r.Commands)
	case named == (r.Word == reading.Hash{}):
		return fmt.Errorf("%w: commands want a word, and a word is for commands alone", reading.ErrReceiver)
	}
	return nil
}

// topicName is the name of a topic, as ntfy has it.
var topicName = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)

// checkURL reads the address of a receiver that takes requests: by TLS, but in the private network.
func checkURL(r *reading.Receiver) (*url.URL, error) {
	u, err := url.Parse(r.Address)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("%w: %.60q: want an address at https://", reading.ErrReceiver, r.Address)
	case u.Scheme == "http" && !r.Local:
		return nil, fmt.Errorf("%w: %.60q: what you are told would be read on the way: want https://, "+
			"or say that it is in your own network (--local)", reading.ErrReceiver, r.Address)
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%w: want an address without a user name and a fragment; a secret has its own place",
			reading.ErrReceiver)
	}
	return u, nil
}

// Shown is the address of a receiver as its owner is shown it: of a Web Push subscription the push service, which has
// nothing of what lets others send there.
func Shown(r *reading.Receiver) string {
	if r.Commands != "" {
		return r.Address + ", commands at " + r.Commands
	}
	if r.Kind != reading.WebPush {
		return r.Address
	}
	to, err := webpush.ParseSubscription([]byte(r.Address))
	if err != nil {
		return ""
	}
	u, err := url.Parse(to.Endpoint)
	if err != nil {
		return ""
	}
	return "a browser or app at " + u.Host
}

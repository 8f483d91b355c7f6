// Package invitation is the link that a node's owner gives a friend, so that their nodes find each other.
package invitation

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"feedex/feed"
	"feedex/protocol"
)

// An Invitation says where a node is, by which key it is known, and which feeds may be worth following.
type Invitation struct {
	Host  string // "host:port", as a node dials it
	Key   protocol.NodeKey
	Feeds []feed.URL // none of them secret
}

// Bounds of a link.
const (
	MaxBytes = 16 << 10
	MaxFeeds = 100
)

// ErrInvitation is wrapped by the errors of Parse.
var ErrInvitation = errors.New("not an invitation")

// Parse reads a link: "feedex://host:port/?key=ed25519:...&feed=https://...". Members that this version does not know
// are passed over.
func Parse(link string) (Invitation, error) {
	if len(link) > MaxBytes {
		return Invitation{}, fmt.Errorf("%w: %d bytes, the limit is %d", ErrInvitation, len(link), MaxBytes)
	}
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Scheme != "feedex" || u.Opaque != "" {
		return Invitation{}, fmt.Errorf("%w: %.80q: want feedex://host:port/?key=KEY", ErrInvitation, link)
	}
	members, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.User != nil || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return Invitation{}, fmt.Errorf("%w: %.80q holds more than a host, a key and feeds", ErrInvitation, link)
	}
	i := Invitation{Host: u.Host}
	if u.Port() == "" {
		i.Host = strings.TrimSuffix(u.Host, ":") + ":" + strconv.Itoa(protocol.DefaultPort)
	}
	if text := members.Get("key"); text != "" {
		if i.Key, err = protocol.ParseNodeKey(text); err != nil {
			return Invitation{}, fmt.Errorf("%w: its key: %w", ErrInvitation, err)
		}
	}
	for _, text := range members["feed"] {
		f, err := feed.ParseURL(text)
		if err != nil {
			return Invitation{}, fmt.Errorf("%w: its feed: %w", ErrInvitation, err)
		}
		i.Feeds = append(i.Feeds, f)
	}
	if err := i.Check(); err != nil {
		return Invitation{}, fmt.Errorf("%w: %w", ErrInvitation, err)
	}
	return i, nil
}

// Check says what is wrong with an invitation that is to be given to somebody.
func (i *Invitation) Check() error {
	switch {
	case !isPlace(i.Host):
		return fmt.Errorf("%q is no place of a node: want host:port, the port from %d to 65535", i.Host,
			protocol.LowestPort)
	case i.Key.IsZero():
		return errors.New("it names no key; ask for a link as 'feedex invite' prints it")
	case len(i.Feeds) > MaxFeeds:
		return fmt.Errorf("%d feeds, the limit is %d", len(i.Feeds), MaxFeeds)
	}
	for _, f := range i.Feeds {
		if f.Secret() || f.Local() {
			return fmt.Errorf("%s is not for others: its address is private or looks like a secret", f.Redacted())
		}
	}
	return nil
}

// String writes the link.
func (i *Invitation) String() string {
	link := "feedex://" + i.Host + "/?key=" + i.Key.String()
	for _, f := range i.Feeds {
		link += "&feed=" + url.QueryEscape(string(f))
	}
	return link
}

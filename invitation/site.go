package invitation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"feedex/feed"
	"feedex/protocol"
)

// DocumentPath is where a site has its document of nodes, at https (RFC 8615).
const DocumentPath = "/.well-known/feedex"

// Bounds of a site's document.
const (
	MaxDocumentBytes = 64 << 10
	MaxNodes         = 16
)

// ErrDocument is wrapped by the errors of ParseDocument.
var ErrDocument = errors.New("no list of nodes")

// nodeList is the JSON object. Members that this version does not know are passed over.
type nodeList struct {
	Nodes []string `json:"nodes"` // links
}

// ParseDocument reads the document in which a site names nodes. One that goes beyond the bounds, or holds anything that
// is no invitation, is none at all.
func ParseDocument(body []byte) ([]Invitation, error) {
	if len(body) > MaxDocumentBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrDocument, MaxDocumentBytes)
	}
	var d nodeList
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, fmt.Errorf("%w: it is not the JSON of 'feedex invite --well-known': %w", ErrDocument, err)
	}
	if len(d.Nodes) == 0 || len(d.Nodes) > MaxNodes {
		return nil, fmt.Errorf("%w: %d nodes, want 1 to %d", ErrDocument, len(d.Nodes), MaxNodes)
	}
	list := make([]Invitation, len(d.Nodes))
	for n, link := range d.Nodes {
		var err error
		if list[n], err = Parse(link); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDocument, err)
		}
	}
	return list, nil
}

// Document writes the document of a site that names nodes.
func Document(list ...Invitation) []byte {
	d := nodeList{Nodes: make([]string, len(list))}
	for n := range list {
		d.Nodes[n] = list[n].String()
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(d) // strings go into any builder
	return []byte(b.String())
}

// Read reads what a person has of an invitation: a link, or a site by its name, as "example.org", or by the address of
// a page of it at https, or no more than the place of a node, "host:port". A site's name or the place is the Host then,
// without a key: the nodes of the site are yet to be found, and the node there shows what key it has, if any.
func Read(text string) (Invitation, error) {
	name := strings.TrimSpace(text)
	if isPlace(name) {
		return Invitation{Host: name}, nil
	}
	if u, err := url.Parse(name); err == nil && u.Scheme == "https" && u.User == nil && u.Port() == "" {
		name = u.Host
	}
	if name = feed.HostName(name); IsSite(name) {
		return Invitation{Host: name}, nil
	}
	i, err := Parse(text)
	switch trimmed := strings.TrimSpace(text); {
	case err == nil || strings.HasPrefix(trimmed, "feedex:"):
	case strings.HasPrefix(trimmed, "http:") || strings.HasPrefix(trimmed, "https:"):
		err = fmt.Errorf("%w: %.80q: a site is named as example.org, and a tracker by a URL such as "+
			"http://tracker.example.net:7788/", ErrInvitation, trimmed)
	default:
		err = fmt.Errorf("%w, the name of a site such as example.org, or a node's host:port, the port from %d up", err,
			protocol.LowestPort)
	}
	return i, err
}

// Tracker reads the URL of a tracker, at http or https, without a user in it. An https URL without a port may be that
// of a site as well, as Read has it.
func Tracker(text string) (at string, ok bool) {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		len(text) > feed.MaxURLBytes {
		return "", false
	}
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16); err != nil || port == 0 {
		return "", false
	}
	return u.String(), true
}

// isPlace reports whether a text is the place of a node, "host:port".
func isPlace(text string) bool {
	at, err := url.Parse("feedex://" + text)
	if err != nil || at.Host != text {
		return false
	}
	_, err = netip.ParseAddr(at.Hostname())
	port, bad := strconv.ParseUint(at.Port(), 10, 16)
	return bad == nil && port >= protocol.LowestPort && (err == nil || IsSite(at.Hostname()))
}

// IsSite reports whether a node's address, as a person gives it, is the name of a site: a name of hosts (RFC 1123
// §2.1), without a port.
func IsSite(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, notInNames) {
			return false
		}
	}
	return true
}

func notInNames(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-'
}

// Feeds are those that invitations name, each once, MaxFeeds at most.
func Feeds(list []Invitation) (feeds []feed.URL) {
	seen := make(map[feed.URL]bool)
	for i := range list {
		for _, u := range list[i].Feeds {
			if !seen[u] && len(feeds) < MaxFeeds {
				seen[u] = true
				feeds = append(feeds, u)
			}
		}
	}
	return feeds
}

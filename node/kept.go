package node

import (
	"slices"
	"strings"

	"feedex/archive"
	"feedex/feed"
)

// Some feeds stay on this node: neither they nor their entries are told to anybody. Where nothing but the look of an
// address speaks for it, the owner is to say.

// Kept says that a feed stays on the node that its owner has just begun to follow.
type Kept struct {
	Feed feed.URL
	Why  string
}

func (Kept) note() {}

// kept says why a feed stays on this node, "" where it is exchanged, and whether its owner may say otherwise and has
// not said anything yet.
func (n *Node) kept(f *archive.Feed) (why string, undecided bool) {
	secrecy, part := f.URL.Secrecy()
	switch {
	case f.URL.Local() && !n.config.AllowLocal:
		return "its host is this machine or in a private network", false
	case n.ownersHost(f.URL):
		return "its host is one of private_host", false
	case secrecy == feed.Credentials:
		return "its address holds " + part, false
	case f.Withheld:
		return "its owner keeps it private", false
	case f.Private:
		return "its publisher asks for that, or it is at no public address", false
	case f.Shared:
		return "", false
	case secrecy != feed.Open:
		return "its address holds " + part + ", which may be a key", true
	case f.Leads:
		return "it leads to an address that may hold a key", true
	case f.Led():
		_, part := f.Page.Secrecy()
		return "the page that named it has an address that holds " + part + ", which may be a key", true
	}
	return "", false
}

// privateURL reports whether a URL alone says that a feed must not leave the node, of which its owner says nothing.
func (n *Node) privateURL(u feed.URL) bool {
	return u.Secret() || u.Local() && !n.config.AllowLocal || n.ownersHost(u)
}

// unspeakable reports whether nobody is to hear of a feed from us, whichever node told us of it, as far as its URL
// says. What our owner shares we may say.
func (n *Node) unspeakable(u feed.URL) bool {
	if s := n.openly(u); s != nil && s.Shared && !s.Withheld {
		why, _ := n.kept(&archive.Feed{URL: u, Shared: true})
		return why != ""
	}
	return n.privateURL(u)
}

// ownersHost reports whether the owner named the host as one whose feeds never leave the node.
func (n *Node) ownersHost(u feed.URL) bool {
	return slices.Contains(n.config.PrivateHosts, strings.TrimSuffix(u.Host(), "."))
}

// privateHost reports whether the host is on this machine or a private network, as far as its name tells.
func (n *Node) privateHost(u feed.URL) bool { return u.Local() || n.ownersHost(u) }

// private reports whether entries of the feed must not leave the node. The table knows it of those that are not
// followed openly.
func (n *Node) private(u feed.URL) bool {
	if s := n.openly(u); s != nil {
		return s.kept != ""
	}
	return n.privateURL(u) || n.table.IsPrivate(u)
}

// ownersAlone reports whether the owner's wishes about the feed must not leave the node.
func (n *Node) ownersAlone(u feed.URL) bool {
	if s := n.feeds[u]; s != nil {
		return s.kept != ""
	}
	return n.private(u)
}

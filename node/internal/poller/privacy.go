package poller

import (
	"slices"

	"feedex/archive"
	"feedex/feed"
)

// A feed that is followed discreetly is polled for the owner, and to everybody else the node does not follow it:
// whatever it says and does, it would say and do as well without. Its neighbors may relay the feed to it, as to any
// node, and it to them; what they bring the owner gets, too. Entries that own polls show stay with the owner, who
// cannot have both: others to learn of them, and nobody to learn which node they came from.
//
// So what neighbors are told is looked up in Core.Shared, and in openly, where nothing of the feed is found; and what
// polls of it draw by chance they draw apart.

// openly is the subscription of a feed that neighbors may know of, nil where it is followed discreetly, or not polled
// at all.
func (m *Machine) openly(u feed.URL) *Subscription {
	if s := m.Feeds[u]; s != nil && !s.Discreet {
		return s
	}
	return nil
}

// Open reports whether a feed is polled, and neighbors may know of it.
func (m *Machine) Open(u feed.URL) bool { return m.openly(u) != nil }

// StarFeeds are the feeds of which stars are told to neighbors who tell theirs, ordered by URL: none that stays here,
// is followed discreetly, is polled for others or was not polled yet. wanted says that the owner wants it of any.
func (m *Machine) StarFeeds() (open []feed.URL, wanted bool) {
	for u, s := range m.Feeds {
		if s.Sharing == archive.SharesNothing || s.volunteered() {
			continue
		}
		if wanted = true; !s.Discreet && s.kept == "" && s.Shown() && s.Names == "" {
			open = append(open, u)
		}
	}
	slices.Sort(open)
	return open, wanted
}

// TellsLabels reports whether labels are told along with the stars of a feed.
func (m *Machine) TellsLabels(u feed.URL) bool {
	s := m.Feeds[u]
	return s != nil && s.Sharing == archive.SharesLabels
}

// Discreet reports whether a feed is followed discreetly.
func (m *Machine) Discreet(u feed.URL) bool {
	s := m.Feeds[u]
	return s != nil && s.Discreet
}

// kept says why a feed stays on this node, "" where it is exchanged, and whether its owner may say otherwise and has
// not said anything yet.
func (m *Machine) kept(f *archive.Feed) (why string, undecided bool) {
	secrecy, part := f.URL.Secrecy()
	switch {
	case f.URL.Local() && !m.Config.AllowLocal:
		return "its host is this machine or in a private network", false
	case m.ownersHost(f.URL):
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

// PrivateURL reports whether a URL alone says that a feed must not leave the node, of which its owner says nothing.
func (m *Machine) PrivateURL(u feed.URL) bool {
	return u.Secret() || u.Local() && !m.Config.AllowLocal || m.ownersHost(u)
}

// Unspeakable reports whether nobody is to hear of a feed from us, whichever node told us of it, as far as its URL
// says. Feeds that our owner shares we may name.
func (m *Machine) Unspeakable(u feed.URL) bool {
	if s := m.openly(u); s != nil && s.Shared && !s.Withheld {
		why, _ := m.kept(&archive.Feed{URL: u, Shared: true})
		return why != ""
	}
	return m.PrivateURL(u)
}

// ownersHost reports whether the owner named the host as one whose feeds never leave the node.
func (m *Machine) ownersHost(u feed.URL) bool {
	return slices.Contains(m.Config.PrivateHosts, hostOf(u))
}

// privateHost reports whether the host is on this machine or a private network, as far as its name tells.
func (m *Machine) privateHost(u feed.URL) bool { return u.Local() || m.ownersHost(u) }

// Private reports whether entries of the feed must not leave the node. The table knows it of those that are not
// followed openly.
func (m *Machine) Private(u feed.URL) bool {
	if s := m.openly(u); s != nil {
		return s.kept != ""
	}
	return m.PrivateURL(u) || m.Table.IsPrivate(u)
}

// OwnersAlone reports whether the owner's wishes about the feed must not leave the node.
func (m *Machine) OwnersAlone(u feed.URL) bool {
	if s := m.followed(u); s != nil {
		return s.kept != ""
	}
	return m.Private(u)
}

package exchange

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node/internal/core"
	"feedex/protocol"
)

// Stars are told by those who share them to those who do, feed by feed, and go one hop. They are votes that nobody can
// check: whoever is paid for a star, or for ten, has the entry in his archive as the one who read it. So a vote costs
// what standing costs, there is one to a network, and it weighs what those with whom it agrees were worth to the owner
// until now (weigh).

const (
	// StarsEvery is how often it is looked whether a neighbor is to hear of other stars.
	StarsEvery = 10 * time.Minute
	// maxStarCalls is how often a neighbor may tell of its stars within that time.
	maxStarCalls = 6
	// starRounds is how often it is told in a row: feeds by name, and then their stars.
	starRounds = 2
)

// starTalk is what a neighbor and we told each other of stars.
type starTalk struct {
	theirs map[feed.URL]protocol.FeedStars // of the feeds of which it tells stars, by its latest word
	ours   []protocol.FeedStars            // what we told it last
	unsure bool                            // it may not have heard that
	asking bool                            // it is being told
	since  time.Time                       // when the time began in which calls are counted
	calls  int
}

// A StarredEntry is an entry that neighbors starred or labelled whose stars count.
type StarredEntry struct {
	Feed   feed.URL
	Entry  feed.EntryID
	Votes  int // networks of these neighbors that starred it
	Weight int // how likely the owner is to star it, by what they starred before: see weigh; 0 for what one starred
	Labels []LabelVotes
}

// LabelVotes are networks of neighbors that gave an entry a label. They say what it is about, and weigh nothing.
type LabelVotes struct {
	Name  string // one line, of a stranger
	Votes int
}

// TellStars has neighbors told of stars, where these are others than before: once for all that an event changes, and
// every StarsEvery as long as the owner shares any, or a neighbor may not have heard that they are withdrawn.
func (m *Machine) TellStars() {
	if !m.starring.soon && m.sharesStars() {
		m.starring.soon = true
		m.After(0, m.tellAll)
	}
}

// sharesStars reports whether there is anything to tell of stars.
func (m *Machine) sharesStars() bool {
	_, wanted := m.feeds.StarFeeds()
	return wanted || slices.ContainsFunc(m.Links, func(l *core.Link) bool {
		t := &Of(l).stars
		return l.Stars && (len(t.ours) > 0 || t.unsure)
	})
}

// tellAll tells all neighbors of stars.
func (m *Machine) tellAll() {
	m.starring.soon = false
	mine := m.starsToTell()
	for _, l := range m.Links { // before anybody hears what is starred now
		m.noteTips(Of(l), mine)
	}
	for _, l := range m.Links {
		m.tellStars(Of(l), mine, starRounds)
	}
	if !m.starring.later && m.sharesStars() {
		m.starring.later = true
		m.After(StarsEvery, func() {
			m.starring.later = false
			m.TellStars()
		})
	}
}

// ownStars are the feeds of which stars are told, and the marks of those for which they were looked up.
type ownStars struct {
	feeds []feed.URL
	marks map[feed.URL]ownMarks
}

// ownMarks are the owner's stars and labels of a feed, the latest first.
type ownMarks struct {
	stars  []feed.EntryID
	labels []archive.Labelled // none where they are not told
}

// starsToTell are the stars to tell of.
func (m *Machine) starsToTell() ownStars {
	feeds, _ := m.feeds.StarFeeds()
	return ownStars{feeds, make(map[feed.URL]ownMarks)}
}

// of are the owner's marks of a feed.
func (o ownStars) of(m *Machine, u feed.URL) ownMarks {
	own, known := o.marks[u]
	if !known {
		own.stars = m.Store.Starred(u, protocol.MaxFeedStars)
		if m.feeds.TellsLabels(u) {
			own.labels = m.Store.Labelled(u, protocol.MaxFeedStars, protocol.MaxSharedLabel)
		}
		o.marks[u] = own
	}
	return own
}

// byLabel are labels with the entries that have them, ordered by name, but for those that no message may hold.
func byLabel(list []archive.Labelled) (labels []protocol.FeedLabel) {
	entries := make(map[string][]feed.EntryID)
	for _, l := range list {
		if protocol.LabelFits(l.Name) {
			entries[l.Name] = append(entries[l.Name], l.Entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		labels = append(labels, protocol.FeedLabel{Name: name, Entries: entries[name]})
	}
	return labels
}

// tellStars tells a neighbor of stars, as far as they are others than it heard of before, so many times in a row: its
// answer may name feeds whose stars it is to hear.
func (m *Machine) tellStars(l *link, mine ownStars, rounds int) {
	t := &l.stars
	if !l.Stars || t.asking || rounds == 0 {
		return
	}
	say := m.starsFor(l, mine)
	if !t.unsure && slices.EqualFunc(say, t.ours, sameStars) {
		return
	}
	t.ours, t.asking, t.unsure = say, true, true
	m.Ask(l.Link, protocol.TellStars{Stars: m.signed(say)}, core.CallTimeout, func(a core.Answered) {
		t.asking = false
		theirs, ok := a.Reply.(protocol.Stars)
		switch code := core.CodeOf(a.Err); {
		case ok:
			t.unsure = false
			mine := m.starsToTell()
			if err := m.takeStars(l, theirs, mine); err != nil {
				m.Suspect(l.ID(), "answered stars that are refused: "+err.Text)
			} else {
				m.tellStars(l, mine, rounds-1)
			}
		case code == protocol.UnwantedFeed:
			t.theirs = nil // it shares less than it did
		case code == protocol.UnknownMethod:
			l.Stars = false
		}
	})
}

func sameStars(a, b protocol.FeedStars) bool {
	return a.Feed == b.Feed && slices.Equal(a.Entries, b.Entries) &&
		slices.EqualFunc(a.Labels, b.Labels, func(a, b protocol.FeedLabel) bool {
			return a.Name == b.Name && slices.Equal(a.Entries, b.Entries)
		})
}

// starsFor is what a neighbor is to hear: the feeds that it follows, those of which it tells stars first, and the stars
// and labels of these.
func (m *Machine) starsFor(l *link, mine ownStars) (say []protocol.FeedStars) {
	var both, others []feed.URL
	for _, u := range mine.feeds {
		if _, shares := l.stars.theirs[u]; shares {
			both = append(both, u)
		} else {
			others = append(others, u)
		}
	}
	each, bytes := min(protocol.MaxFeedStars, protocol.MaxStars/max(1, min(len(both), protocol.MaxStarFeeds))), 0
	room := func(more int) bool {
		if bytes+more > protocol.MaxStarBytes {
			return false
		}
		bytes += more
		return true
	}
	for i, u := range slices.Concat(both, others) {
		if hops, ok := l.Peer.Hops(u); !ok || hops != 0 {
			continue
		}
		f := protocol.FeedStars{Feed: u}
		if i < len(both) {
			own := mine.of(m, u).stars
			f.Entries = own[:min(len(own), each)]
		}
		if len(say) >= protocol.MaxStarFeeds || !room(f.WireBytes()) {
			break
		}
		say = append(say, f)
	}
	for i, f := range say { // in what names and stars leave
		if _, shares := l.stars.theirs[f.Feed]; shares {
			own := mine.of(m, f.Feed).labels
			f.Labels = byLabel(own[:min(len(own), each)])
			if room(f.WireBytes() - say[i].WireBytes()) {
				say[i] = f
			}
		}
	}
	return say
}

func (m *Machine) signed(say []protocol.FeedStars) protocol.Stars {
	return protocol.Stars{Feeds: say}.Sign(m.Config.Key)
}

// AskedStars takes in what a neighbor says of its stars, and answers with ours.
func (m *Machine) AskedStars(from *core.Link, ev core.Asked, said protocol.Stars) {
	l := Of(from)
	t := &l.stars
	if m.Now.Sub(t.since) >= StarsEvery {
		t.since, t.calls = m.Now, 0
	}
	if t.calls++; t.calls > maxStarCalls {
		m.Refuse(ev, protocol.Faultf(protocol.Busy, "more than %d calls about stars within %v; collect them",
			maxStarCalls, StarsEvery))
		return
	}
	mine := m.starsToTell()
	if err := m.takeStars(l, said, mine); err != nil {
		m.Refuse(ev, err)
		return
	}
	say := m.starsFor(l, mine)
	if !t.asking {
		t.ours, t.unsure = say, false
	}
	m.Respond(ev, m.signed(say))
}

// takeStars takes in what a neighbor says of its stars, or says why not.
func (m *Machine) takeStars(l *link, said protocol.Stars, mine ownStars) *protocol.Fault {
	if !l.Key.IsZero() && !said.SignedBy(l.Key) {
		return protocol.Faultf(protocol.NotVouched, "the stars are not signed by the key known here: %s", l.Key)
	}
	theirs := make(map[feed.URL]protocol.FeedStars, len(said.Feeds))
	for _, f := range said.Feeds {
		named := slices.ContainsFunc(l.stars.ours, func(ours protocol.FeedStars) bool { return ours.Feed == f.Feed })
		if len(f.Entries)+len(f.Labels) > 0 && !named {
			return protocol.Faultf(protocol.UnwantedFeed, "stars of a feed that was not named to you; name it first")
		}
		theirs[f.Feed] = f
	}
	l.stars.theirs = theirs
	m.noteTips(l, mine)
	return nil
}

// tipAge is how long ago an entry came here, at most, of which a star is a tip: for so long the page shows it. Who is
// new to a feed has left none of what came before.
const tipAge = 7 * 24 * time.Hour

// noteTips notes what a neighbor stars of the feeds of which stars are shared, and what of it the owner has starred.
func (m *Machine) noteTips(l *link, mine ownStars) {
	if len(l.stars.theirs) == 0 {
		return
	}
	own := make(map[feed.EntryID]bool)
	var starred []feed.EntryID
	for _, u := range mine.feeds {
		if theirs, told := l.stars.theirs[u]; told {
			starred = append(starred, theirs.Entries...)
			for _, id := range mine.of(m, u).stars {
				own[id] = true
			}
		}
	}
	known := m.Shared.Known(starred)
	fresh := starred[:0]
	for i, id := range starred {
		if m.Now.Sub(known[i].Seen) <= tipAge { // what the owner could star since, and no zero time
			fresh = append(fresh, id)
		}
	}
	if m.Ledger.Tipped(l.Holder, fresh, func(id feed.EntryID) bool { return own[id] }) {
		m.SaveAccounts()
	}
}

// Starred are the entries that neighbors starred or labelled of feeds whose stars the owner shares, those with most
// weight first.
func (m *Machine) Starred() []StarredEntry {
	open, _ := m.feeds.StarFeeds()
	voters := make(map[protocol.Network]*voter)
	for _, x := range m.Links {
		l := Of(x)
		standing := 0
		if len(l.stars.theirs) > 0 {
			standing = m.votes(x)
		}
		if standing == 0 {
			continue
		}
		network := m.VoiceOf(l.ID())
		v := voters[network]
		if v == nil {
			v = &voter{stars: make(map[vote]bool), labels: make(map[labelVote]bool), tips: make(map[feed.EntryID]bool)}
			voters[network] = v
		}
		v.standing = max(v.standing, standing)
		for _, u := range open {
			theirs := l.stars.theirs[u]
			for _, id := range theirs.Entries {
				v.stars[vote{u, id}] = true
			}
			for _, label := range theirs.Labels {
				for _, id := range label.Entries {
					v.labels[labelVote{vote{u, id}, label.Name}] = true
				}
			}
		}
		for _, t := range m.Ledger.Account(l.Holder).Tips {
			v.tips[t.Entry] = v.tips[t.Entry] || t.Taken
		}
	}
	all := slices.Collect(maps.Values(voters))
	return withLabels(weigh(all), all)
}

// withLabels are entries that voters starred, and those that they labelled behind them in the order of EntryIDs, with
// their labels, the commonest first.
func withLabels(list []StarredEntry, voters []*voter) []StarredEntry {
	count := make(map[labelVote]int)
	for _, v := range voters {
		for l := range v.labels {
			count[l]++
		}
	}
	labels := make(map[vote][]LabelVotes)
	for l, votes := range count {
		labels[l.vote] = append(labels[l.vote], LabelVotes{l.name, votes})
	}
	for _, names := range labels {
		slices.SortFunc(names, func(a, b LabelVotes) int {
			return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(a.Name, b.Name))
		})
	}
	for i := range list {
		v := vote{list[i].Feed, list[i].Entry}
		list[i].Labels = labels[v]
		delete(labels, v)
	}
	for _, v := range slices.SortedFunc(maps.Keys(labels), vote.compare) {
		list = append(list, StarredEntry{Feed: v.feed, Entry: v.entry, Labels: labels[v]})
	}
	return list
}

// votes is the standing of a neighbor whose stars count, and nothing before it has earned what shows that it is no
// stranger.
func (m *Machine) votes(l *core.Link) int {
	if m.Ledger.OnProbation(l.Holder) {
		return 0
	}
	account := m.Ledger.Account(l.Holder)
	return account.Standing.Points(m.Now)
}

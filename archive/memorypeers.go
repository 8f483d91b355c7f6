package archive

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"feedex/feed"
	"feedex/grade"
	"feedex/protocol"
)

// LoadFeeds implements Feeds.
func (m *Memory) LoadFeeds() []Feed {
	return slices.SortedFunc(maps.Values(m.feeds), func(a, b Feed) int { return cmp.Compare(a.URL, b.URL) })
}

// LoadFeed implements Feeds.
func (m *Memory) LoadFeed(u feed.URL) Feed { return m.feeds[u] }

// KeepFeed implements Feeds.
func (m *Memory) KeepFeed(f Feed) {
	for _, t := range []*time.Time{&f.Since, &f.NextPoll, &f.LastPoll, &f.LastSuccess, &f.Unconditional, &f.MovedSince,
		&f.NotBefore, &f.Gap.After, &f.Gap.Before, &f.Past.Since, &f.Past.Back, &f.Past.Left, &f.Past.Again} {
		*t = milli(*t)
	}
	m.feeds[f.URL] = f
}

// Inherit implements Feeds. Titles, folders and limits are kept on disk alone.
func (m *Memory) Inherit(to, from feed.URL) {}

// milli is t as a Store keeps the times of feeds and peers.
func milli(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// LoadRequests implements Requests.
func (m *Memory) LoadRequests(n int) []grade.Request {
	return slices.Clone(m.requests[max(0, len(m.requests)-max(0, n)):])
}

// KeepRequests implements Requests.
func (m *Memory) KeepRequests(list []grade.Request) {
	for _, r := range list {
		r.At, r.Fresh, r.RetryAfter = milli(r.At), r.Fresh.Truncate(time.Millisecond),
			r.RetryAfter.Truncate(time.Millisecond)
		m.requests = append(m.requests, r)
	}
	if over := len(m.requests) - KeptRequests; over > KeptRequests/10 {
		m.requests = slices.Delete(m.requests, 0, over)
	}
}

// KeepSpared implements Requests. A Memory shows no hours.
func (m *Memory) KeepSpared(time.Time, float64) {}

// HasDID implements Bundles.
func (m *Memory) HasDID(did protocol.DID) bool {
	number, known := m.pool.dids.numbers[did]
	return known && m.hasDID[number]
}

// KeepDID implements Bundles.
func (m *Memory) KeepDID(did protocol.DID) {
	number := m.pool.dids.number(did)
	if m.hasDID[number] {
		return
	}
	m.hasDID[number] = true
	m.dids = append(m.dids, number)
	if len(m.dids) > KeptDIDs {
		delete(m.hasDID, m.dids[0])
		m.dids = m.dids[1:]
	}
}

// LatestDIDs implements Bundles.
func (m *Memory) LatestDIDs(n int) []protocol.DID {
	latest := m.dids[max(0, len(m.dids)-max(0, n)):]
	dids := make([]protocol.DID, len(latest))
	for i, number := range latest {
		dids[i] = m.pool.dids.list[number]
	}
	return dids
}

// LoadPeers implements Peers.
func (m *Memory) LoadPeers() []protocol.FormerNeighbor {
	return slices.SortedFunc(maps.Values(m.peers), func(a, b protocol.FormerNeighbor) int { return a.ID.Compare(b.ID) })
}

// KeepPeer implements Peers.
func (m *Memory) KeepPeer(p protocol.FormerNeighbor) {
	p.FirstMet, p.LastMet = milli(p.FirstMet), milli(p.LastMet)
	m.peers[p.ID] = p
}

// DropPeer implements Peers.
func (m *Memory) DropPeer(id protocol.NodeID) { delete(m.peers, id) }

// LoadAccounts implements Accounts.
func (m *Memory) LoadAccounts() (accounts []KeptAccount) {
	for _, holder := range slices.Sorted(maps.Keys(m.accounts)) {
		accounts = append(accounts, KeptAccount{Holder: holder, Text: slices.Clone(m.accounts[holder])})
	}
	return accounts
}

// KeepAccount implements Accounts.
func (m *Memory) KeepAccount(a KeptAccount) {
	m.accounts[a.Holder] = append(m.accounts[a.Holder][:0], a.Text...)
}

// DropAccount implements Accounts.
func (m *Memory) DropAccount(holder string) { delete(m.accounts, holder) }

// LoadHosts implements Hosts.
func (m *Memory) LoadHosts() []KnownHost {
	return slices.SortedFunc(maps.Values(m.hosts), func(a, b KnownHost) int { return cmp.Compare(a.Name, b.Name) })
}

// KeepHost implements Hosts.
func (m *Memory) KeepHost(h KnownHost) {
	h.Until, h.Spent = milli(h.Until), milli(h.Spent)
	m.hosts[h.Name] = h
}

// DropHost implements Hosts.
func (m *Memory) DropHost(name string) { delete(m.hosts, name) }

package protocol

import (
	"crypto/sha1" // the protocol's digest, Paper §3.4
	"fmt"
	"slices"
	"time"

	"feedex/feed"
)

// A Bundle is a set of new entries of one feed that travels as one (Paper §3.4). Make one with
// NewBundle. A Bundle is shared between events and effects and must not be changed.
type Bundle struct {
	DID  DID
	Feed feed.URL
	// Path lists the nodes that forwarded the bundle, first forwarder first. It is not part of the
	// DID. The receiver, not the sender, appends the sender.
	Path    []NodeID
	Entries []feed.Entry
	known   *contents // nil before somebody asked
}

// NewBundle bundles clean entries of feed u, of which there must be at least one. The order of the
// entries does not matter: two nodes that bundle the same entries give the same did.
func NewBundle(u feed.URL, entries []feed.Entry) *Bundle {
	b := &Bundle{Feed: u, Entries: entries}
	b.DID = bundleDID(u, b.Identities())
	return b
}

// bundleDID is the SHA-1 over the feed's URL and the entries' digests in ascending order.
func bundleDID(u feed.URL, entries []feed.Identity) DID {
	digests := make([]feed.Digest, len(entries))
	for i := range entries {
		digests[i] = entries[i].Digest
	}
	slices.SortFunc(digests, feed.Digest.Compare)
	b := feed.AppendField(make([]byte, 0, 64+len(u)+24*len(digests)), string(u))
	for _, d := range digests {
		b = feed.AppendField(b, string(d[:]))
	}
	return sha1.Sum(b)
}

// Via is the bundle as its receiver sees it: with the sender appended to the path.
//
// Paper §3.4: "It is a receiver, rather than a sender, that puts the forwarder on the path list."
func (b *Bundle) Via(sender NodeID) *Bundle {
	via := *b
	via.Path = append(append(make([]NodeID, 0, len(b.Path)+1), b.Path...), sender)
	return &via
}

// Verify checks that the bundle is what it says it is. The error is a *Fault that names the reason: too many or too
// long, foreign entries, unclean text, an entry twice, a did that does not fit. It looks at every byte once: a call
// ahead makes later ones free.
func (b *Bundle) Verify() error {
	switch {
	case len(b.Entries) == 0:
		return faultf(BadBundle, "bundle holds no entries")
	case len(b.Entries) > MaxBundleEntries:
		return faultf(TooLong, "bundle holds %d entries, the limit is %d", len(b.Entries), MaxBundleEntries)
	case len(b.Path) > MaxPath:
		return faultf(TooLong, "path holds %d nodes, the limit is %d", len(b.Path), MaxPath)
	}
	known := b.named()
	if !known.verified {
		known.verified, known.flaw = true, b.verify(known)
	}
	return known.flaw
}

func (b *Bundle) verify(known *contents) error {
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Feed != b.Feed {
			return faultf(BadBundle, "entry %d belongs to another feed", i)
		}
		if err := CheckEntry(e); err != nil {
			return faultf(err.(*Fault).Code, "entry %d: %s", i, err.(*Fault).Text)
		}
	}
	ids := make(map[feed.EntryID]bool, len(known.identities))
	for i := range known.identities {
		id := known.identities[i].ID
		if ids[id] {
			return faultf(BadBundle, "entry %d occurs twice", i)
		}
		ids[id] = true
	}
	if did := bundleDID(b.Feed, known.identities); did != b.DID {
		return faultf(BadDID, "did is %s, the content gives %s", b.DID, did)
	}
	return nil
}

// CheckEntry reports as a *Fault why e may not travel: a field is too long, or the entry's digest would not
// survive the way, for a text is not clean or the wire has no form for a time. The node that polled such an
// entry keeps it, and leaves it out of its bundles.
func CheckEntry(e *feed.Entry) error {
	fields := []struct {
		name  string
		text  string
		limit int
	}{
		{"id", e.ID, MaxIDBytes}, {"title", e.Title, MaxTitleBytes}, {"link", e.Link, feed.MaxURLBytes},
		{"summary", e.Summary, MaxTextBytes}, {"content", e.Content, MaxTextBytes},
		{"source id", e.CopiedFrom.ID, MaxIDBytes}, {"source title", e.CopiedFrom.Title, MaxTitleBytes},
		{"source url", e.CopiedFrom.URL, feed.MaxURLBytes},
	}
	for _, f := range fields {
		if err := checkText(f.name, f.text, f.limit); err != nil {
			return err
		}
	}
	if err := checkList("authors", e.Authors, MaxAuthors, MaxLabelBytes); err != nil {
		return err
	}
	if err := checkList("categories", e.Categories, MaxCategories, MaxLabelBytes); err != nil {
		return err
	}
	if err := checkList("rights", e.Rights, MaxRights, MaxRightBytes); err != nil {
		return err
	}
	if len(e.Enclosures) > MaxEnclosures {
		return faultf(TooLong, "%d enclosures, the limit is %d", len(e.Enclosures), MaxEnclosures)
	}
	for _, enc := range e.Enclosures {
		if err := checkText("enclosure url", enc.URL, feed.MaxURLBytes); err != nil {
			return err
		}
		if err := checkText("enclosure type", enc.Type, MaxLabelBytes); err != nil {
			return err
		}
		if enc.Length < 0 {
			return faultf(BadBundle, "enclosure length is negative")
		}
	}
	for _, t := range []time.Time{e.Published, e.Updated} {
		if s := t.Unix(); !t.IsZero() && (s < minUnix || s > maxUnix) {
			return faultf(BadBundle, "time lies outside the years 1 to 9999")
		}
	}
	if e.ID == "" && e.Title == "" && e.Link == "" {
		return faultf(BadBundle, "neither id nor title nor link")
	}
	return nil
}

func checkText(name, text string, limit int) error {
	if len(text) > limit {
		return faultf(TooLong, "%s is %d bytes, the limit is %d", name, len(text), limit)
	}
	if feed.Clean(text) != text {
		return faultf(BadBundle, "%s holds control characters", name)
	}
	return nil
}

func checkList(name string, items []string, limit, bytes int) error {
	if len(items) > limit {
		return faultf(TooLong, "%d %s, the limit is %d", len(items), name, limit)
	}
	for _, s := range items {
		if err := checkText(name, s, bytes); err != nil {
			return err
		}
	}
	return nil
}

// Split divides clean entries of feed u into bundles that keep to the limits of the wire, in order,
// without those that may not travel at all. Bytes and entries decide: MaxBundleEntries entries
// with full lists are fewer than half the values that put_entries may hold.
func Split(u feed.URL, entries []feed.Entry) (bundles []*Bundle) {
	var batch []feed.Entry
	bytes := 0
	flush := func() {
		if len(batch) > 0 {
			bundles = append(bundles, NewBundle(u, batch))
		}
		batch, bytes = nil, 0
	}
	for _, e := range entries {
		n := wireBytes(&e) + extrasBytes(&e.Extras)
		if CheckEntry(&e) != nil || n > maxBundleBytes {
			continue
		}
		if len(batch) == MaxBundleEntries || bytes+n > maxBundleBytes {
			flush()
		}
		batch = append(batch, e)
		bytes += n
	}
	flush()
	return bundles
}

// String names the bundle for logs and traces.
func (b *Bundle) String() string {
	return fmt.Sprintf("%s (%d entries of %s)", b.DID, len(b.Entries), b.Feed)
}

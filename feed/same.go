package feed

import "time"

// unite leaves one entry for each EntryID, in the order of the document.
//
// Paper §3 takes the id for the entry. But publishers give one id to several entries: the address of
// their site, a constant, the minute of the day. Taken to the letter those would be one entry, and the
// others lost. So an id is not believed where what it names cannot be the same:
//
//   - An id that is the feed's own (its Atom id, or in RSS its site) is none.
//
//   - Entries of a document that share an id and are called differently, or are not called anything and
//     say different things, have no id: title and link tell them apart, as the paper has it for
//     entries without one. Those without title, and those whose title and link are the same too, get an
//     id that is made from what they say, see nameless.
//
//   - Entries without id that share title and link are told apart likewise, unless the link is to more
//     than the site.
//
// Entries that share id and title, or title and link, are otherwise versions of one, of which the latest
// is kept (RFC 4287 §4.1.1); those that differ in their dates alone are one as well. Two documents are not
// compared: an id that comes back under another title in a later document is a revision.
func (b *builder) unite() {
	entries := b.doc.Entries
	groups := make(map[EntryID][]int, len(entries))
	var order, shared []EntryID
	for i := range entries {
		e := &entries[i]
		if e.ID == b.own && e.ID != "" {
			disown(e)
		}
		id := e.EntryID()
		switch len(groups[id]) {
		case 0:
			order = append(order, id)
		case 1:
			shared = append(shared, id)
		}
		groups[id] = append(groups[id], i)
	}
	if len(shared) == 0 {
		return
	}
	drop := make([]bool, len(entries))
	for _, id := range shared {
		b.tellApart(groups[id], drop)
	}
	kept, seen := entries[:0], make(map[EntryID]bool, len(order))
	for i := range entries {
		id := entries[i].EntryID()
		if drop[i] || seen[id] {
			continue
		}
		seen[id] = true
		kept = append(kept, entries[i])
	}
	clear(entries[len(kept):])
	b.doc.Entries = kept
}

// tellApart decides which of the entries at these places, which share an EntryID, are the same, marks those to drop,
// and gives the others identities of their own.
func (b *builder) tellApart(places []int, drop []bool) {
	entries := b.doc.Entries
	places = latest(entries, places, drop, nameless)
	if len(places) == 1 {
		return
	}
	if e := &entries[places[0]]; e.ID == "" && (e.Title == "" || e.Link == "" || e.Link == b.doc.Link) {
		for _, i := range places {
			entries[i].ID = nameless(&entries[i])
		}
		return
	}
	places = latest(entries, places, drop, func(e *Entry) string {
		if e.Title == "" {
			return nameless(e)
		}
		return "title:" + e.Title
	})
	if len(places) == 1 {
		return
	}
	for _, i := range places {
		if disown(&entries[i]); entries[i].Title == "" {
			entries[i].ID = nameless(&entries[i])
		}
	}
}

// latest marks all but one of the entries that key calls the same to be dropped: the one updated last
// stays, of several the first. It returns where those are that stay, in the order of the document.
func latest(entries []Entry, places []int, drop []bool, key func(*Entry) string) []int {
	best := make(map[string]int, len(places))
	for _, i := range places {
		k := key(&entries[i])
		j, ok := best[k]
		if ok && !entries[i].Updated.After(entries[j].Updated) {
			drop[i] = true
			continue
		}
		if ok {
			drop[j] = true
		}
		best[k] = i
	}
	var kept []int
	for _, i := range places {
		if !drop[i] {
			kept = append(kept, i)
		}
	}
	return kept
}

// disown takes away the entry's id.
func disown(e *Entry) {
	if e.ID = ""; e.Title == "" && e.Link == "" {
		e.ID = nameless(e)
	}
}

// nameless makes an id for an entry that has nothing else to be known by: "sha1:" and the SHA-1 of all
// its fields but the id and the dates.
//
// Paper §3 falls back from the id to title and link and does not say what comes after; taken to the
// letter, all such entries of a feed would be one. Dates are left out because some publishers put
// the time of the fetch there (Paper §3.3).
func nameless(e *Entry) string {
	undated := *e
	undated.ID, undated.Published, undated.Updated = "", time.Time{}, time.Time{}
	return "sha1:" + undated.Digest().String()
}

package lab

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/courtesy"
	"feedex/feed"
	"feedex/lab/trace"
	"feedex/node"
)

// A Publisher serves one feed: at any time, the newest entries of its trace, as many as its document
// holds. A request that names the current document as known to it is answered "not modified".
type Publisher struct {
	URL  feed.URL
	Feed trace.Timeline

	Requests    int64 // polls answered
	NotModified int64 // of these, answered 304
	Refused     int64 // of these, answered 429 or 503
	Bytes       int64 // of all answers, with headers
	Minutes     []int // polls answered in each minute since the World's start

	index   int
	world   *World
	site    *site
	first   int           // index of the first entry that counts, published after the World's start
	end     int           // index after the last that counts
	entries []*feed.Entry // made when first listed
	edited  []correction
	newest  *feed.Document
	edition edition // of newest

	freshness courtesy.Freshness
	pace      feed.PollingHints
}

// An edition of a document is told by how many entries were published, and how many edited.
type edition struct{ published, edited int }

// entryRef names an entry by its feed and its place in the trace.
type entryRef struct{ feed, index int }

// Sizes of answers in bytes. A document without entries is a feed's head; an entry is what Publisher writes: title,
// link, id, dates and a summary of 200 to 1,000 bytes, once more in markup.
const (
	responseHead = 350 // status line and headers, of a 304 as of a 200
	documentHead = 900
	entryMarkup  = 260 // of an entry, beside its texts
	entryTexts   = 760 // on average, of which 600 are its summary
)

// EntryBytes is how many bytes an entry takes in a document, on average.
const EntryBytes = entryMarkup + entryTexts

// AnswerBytes is how many bytes an answer with so many entries takes on average, and for 0 one that says
// "not modified".
func AnswerBytes(entries int) int64 {
	if entries == 0 {
		return responseHead
	}
	return responseHead + documentHead + int64(entries)*EntryBytes
}

func newPublisher(w *World, sites []*site, index int, f trace.Timeline) *Publisher {
	p := &Publisher{Feed: f, index: index, world: w, entries: make([]*feed.Entry, len(f.Times))}
	if label := hostLabel(f.Name, index); len(sites) == 0 {
		p.site = &site{name: label + ".example.com", index: uint64(index)}
		p.URL = feed.URL("https://" + p.site.name + "/feed.xml")
	} else {
		p.site = siteOf(sites, w.config.Seed, index)
		p.URL = feed.URL("https://" + p.site.name + "/" + label + ".xml")
	}
	if p.site.answered == nil && w.happens(w.config.Conduct.Throttling, 'q', p.site.index) {
		p.site.throttle, p.site.answered = true, make(map[netip.Addr]time.Time)
	}
	p.freshness, p.pace = w.hint(index)
	p.edited = p.corrections()
	p.first = p.published(w.config.Start)
	p.end = p.published(w.config.Until)
	return p
}

// hostLabel makes a host's name of a feed's: what is no letter or digit is a dash.
func hostLabel(name string, index int) string {
	label := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	if len(label) > 40 {
		label = label[:40]
	}
	return fmt.Sprintf("%s-%d", strings.Trim(label, "-"), index)
}

// published is how many entries of the trace are out at t.
func (p *Publisher) published(t time.Time) int {
	n, _ := slices.BinarySearch(p.Feed.Times, t.Unix()+1)
	return n
}

// listed is which entries the document holds when so many are out.
func (p *Publisher) listed(count int) (from, to int) {
	return max(0, count-p.Feed.Window), count
}

// entry is entry number i of the trace.
func (p *Publisher) entry(i int) *feed.Entry {
	if p.entries[i] == nil {
		size := 200 + int(mix(uint64(p.world.config.Seed), 'e', uint64(p.index), uint64(i))%800)
		e := &feed.Entry{
			Feed: p.URL, ID: fmt.Sprintf("%s#%d", p.URL, i),
			Title:     fmt.Sprintf("Entry %d of %s, with a title of ordinary length", i, p.Feed.Name),
			Link:      fmt.Sprintf("https://%s/%d.html", p.URL.Host(), i),
			Published: time.Unix(p.Feed.Times[i], 0).UTC(),
			Summary:   filler[:size],
		}
		p.entries[i] = e
		p.world.entries[e.EntryID()] = entryRef{p.index, i}
	}
	return p.entries[i]
}

// filler is the text that summaries are cut from: its content matters to nobody, its length does.
var filler = strings.Repeat("All is quiet at the harbor, and the boats are in. ", 20)

// document is an edition of the document. Nobody may write to it.
func (p *Publisher) document(v edition) *feed.Document {
	if p.newest == nil || p.edition != v {
		from, to := p.listed(v.published)
		doc := &feed.Document{Feed: p.URL, Title: p.Feed.Name, Entries: make([]feed.Entry, 0, to-from), Pace: p.pace}
		for i := to - 1; i >= from; i-- {
			doc.Entries = append(doc.Entries, *p.entry(i))
		}
		for _, change := range p.edited[:v.edited] {
			if change.entry >= from && change.entry < to {
				e := &doc.Entries[to-1-change.entry]
				e.Updated, e.Summary = time.Unix(change.at, 0).UTC(), e.Summary+" This was corrected."
			}
		}
		p.newest, p.edition = doc, v
	}
	return p.newest
}

// asked counts a request that comes in at t.
func (p *Publisher) asked(t time.Time) {
	p.Requests++
	minute := int(t.Sub(p.world.config.Start) / time.Minute)
	p.Minutes = append(p.Minutes, make([]int, max(0, minute+1-len(p.Minutes)))...)
	p.Minutes[minute]++
	p.Bytes += responseHead
}

// answer serves a request that comes in at t with that ETag, by a copy where caches answer.
func (p *Publisher) answer(t time.Time, etag string) (doc *feed.Document, current string, count int) {
	p.asked(t)
	t = p.copied(t)
	v := edition{published: p.published(t)}
	current = strconv.Itoa(v.published)
	if len(p.edited) > 0 {
		v.edited, _ = slices.BinarySearchFunc(p.edited, t.Unix()+1,
			func(c correction, t int64) int { return cmp.Compare(c.at, t) })
		current += "-" + strconv.Itoa(v.edited)
	}
	current, count = `"`+current+`"`, v.published
	if etag == current {
		p.NotModified++
		return nil, current, count
	}
	doc = p.document(v)
	p.Bytes += documentHead
	for i := range doc.Entries {
		e := &doc.Entries[i]
		p.Bytes += int64(entryMarkup + len(e.ID) + len(e.Title) + len(e.Link) + len(e.Summary))
	}
	return doc, current, count
}

// An openPoll is a poll on its way.
type openPoll struct {
	host  *Host
	life  uint32
	feed  int
	count int // entries out when the document was made, -1 for none
	ev    node.Fetched
}

var errNoFeed = errors.New("HTTP status 404")

// poll has a host's poll answered: the document is that of when the request comes in.
func (w *World) poll(h *Host, f node.Fetch) {
	o := openPoll{host: h, life: h.life, feed: -1, count: -1, ev: node.Fetched{Feed: f.Feed}}
	i, known := w.byURL[f.Feed]
	d, _ := w.delay(h.index, publisherEnd-i, uint64(w.now))
	var takes time.Duration
	switch {
	case known && f.Locate:
		o.ev.Located, o.ev.Dialed = true, true
	case !known:
		o.ev, takes = w.config.Serve(h, f)
	case h.member.NoPolls:
		o.ev.Status, o.ev.Err = 503, errNoPolls
		d = 15 * time.Second
	default:
		p, at := w.publishers[i], w.Now().Add(d)
		before := p.Bytes
		o.feed = i
		if refusal, refused := w.refuses(p.site, h.seen.Addr(), at); refused {
			p.asked(at)
			p.Refused++
			o.ev, o.ev.Feed = refusal, f.Feed
		} else {
			o.ev.Document, o.ev.ETag, o.count = p.answer(at, f.ETag)
			o.ev.Freshness = p.freshness
		}
		h.Polls.count(o.ev.Document == nil, p.Bytes-before)
	}
	w.queue.Add(w.now+2*d+takes, event{kind: deliver, index: w.polls.add(o)})
}

// delivered brings a poll's answer to its host.
func (w *World) delivered(i int32) {
	o := w.polls.take(i)
	if o.host.life != o.life || o.host.state != running {
		return
	}
	if o.count >= 0 {
		o.host.polled(o.feed, o.count)
	}
	o.host.step(o.ev)
}

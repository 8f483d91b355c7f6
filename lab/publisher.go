package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
	Bytes       int64 // of all answers, with headers
	Minutes     []int // polls answered in each minute since the World's start

	index   int
	world   *World
	first   int           // index of the first entry that counts, published after the World's start
	end     int           // index after the last that counts
	entries []*feed.Entry // made when first listed
	newest  *feed.Document
	count   int // entries published when newest was made
}

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

// AnswerBytes is how many bytes an answer with so many entries takes on average, and for 0 one that says
// "not modified".
func AnswerBytes(entries int) int64 {
	if entries == 0 {
		return responseHead
	}
	return responseHead + documentHead + int64(entries)*(entryMarkup+entryTexts)
}

func newPublisher(w *World, index int, f trace.Timeline) *Publisher {
	p := &Publisher{
		URL: feed.URL("https://" + hostLabel(f.Name, index) + ".example.com/feed.xml"), Feed: f,
		index: index, world: w, entries: make([]*feed.Entry, len(f.Times)), count: -1,
	}
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

// document is the document that is served when so many entries are out. Nobody may write to it.
func (p *Publisher) document(count int) *feed.Document {
	if p.newest == nil || p.count != count {
		from, to := p.listed(count)
		doc := &feed.Document{Feed: p.URL, Title: p.Feed.Name, Entries: make([]feed.Entry, 0, to-from)}
		for i := to - 1; i >= from; i-- {
			doc.Entries = append(doc.Entries, *p.entry(i))
		}
		p.newest, p.count = doc, count
	}
	return p.newest
}

// answer serves a request that comes in at t with that ETag.
func (p *Publisher) answer(t time.Time, etag string) (doc *feed.Document, current string, count int) {
	count = p.published(t)
	current = `"` + strconv.Itoa(count) + `"`
	p.Requests++
	minute := int(t.Sub(p.world.config.Start) / time.Minute)
	p.Minutes = append(p.Minutes, make([]int, max(0, minute+1-len(p.Minutes)))...)
	p.Minutes[minute]++
	p.Bytes += responseHead
	if etag == current {
		p.NotModified++
		return nil, current, count
	}
	doc = p.document(count)
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
		p := w.publishers[i]
		before := p.Bytes
		o.feed = i
		o.ev.Document, o.ev.ETag, o.count = p.answer(w.Now().Add(d), f.ETag)
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

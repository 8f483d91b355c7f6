package web

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"html"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"

	"feedex/archive"
	"feedex/feed"
	"feedex/reading"
	"feedex/safehtml"
)

// entryPage is one entry.
type entryPage struct {
	Path      string
	ID        string
	Item      reading.ItemState
	Title     string
	Link      string
	SendTo    string // address of a site that takes the entry, "" for none
	Taker     string // the name of that site
	Service   string // what it can be saved to, "" for none
	Feed      string
	FeedPath  string
	FeedIcon  string
	Authors   string
	Time      moment
	Seen      moment
	Neighbor  string // that brought it, "" for an own poll
	Confirmed bool
	Said      starsSaid
	entryLabels
	Told       bool          // neighbors hear of the labels
	Article    template.HTML // sanitized
	Pictures   int           // that it has
	Shown      bool          // these are shown
	Always     bool          // as all of the feed are
	Number     int64         // of the feed
	Full       reading.FullText
	Fetched    moment // when it was
	Enclosures []attachment
	extrasLine
	Rights     []rightsLine
	CopiedFrom rightsLine // the feed that it was copied from, zero for none
	From       listing    // the list that it was opened from
	Untitled   bool       // the title is the beginning of its text
	// Newer and Older are its neighbors in that list, nil for none.
	Newer, Older *headline
}

// A rightsLine is a statement of rights, or the feed that an entry was copied from: a text, perhaps with a link.
type rightsLine struct{ Link, Text string }

// An attachment is a file that belongs to an entry.
type attachment struct {
	Link, Name, Kind string
	Host             string // that serves it
	Bytes            int64  // 0 where it is not known
	Length           string // how long it takes, "" where it is not known
	Plays            string // the element that plays it: "audio", "video" or "" for none
}

// maxPlayers is how many files of an entry can be played on its page: publishers list a video in each of its sizes.
const maxPlayers = 4

// attachments are the files of an entry. It reports whether some can be played: how long that takes the first one says,
// since others are the same in another form, or something else.
func attachments(e *feed.Entry) (files []attachment, play bool) {
	players := 0
	for _, enc := range e.Enclosures {
		link := webLink(enc.URL)
		if link == "" {
			continue
		}
		f := attachment{Link: link, Name: fileName(link), Kind: safehtml.Line(enc.Type), Host: feed.URL(link).Host(),
			Bytes: enc.Length}
		if players < maxPlayers {
			if f.Plays = plays(f.Kind, link); f.Plays != "" {
				if players == 0 {
					f.Length = playingTime(e.Extras.Duration)
				}
				players++
			}
		}
		files = append(files, f)
	}
	return files, players > 0
}

// plays is the element that plays a file of a media type, or of a name where the publisher says no more: "audio",
// "video" or "" for none.
func plays(mediaType, link string) string {
	kind, _, _ := strings.Cut(strings.ToLower(mediaType), "/")
	if kind == "audio" || kind == "video" {
		return kind
	}
	u, err := url.Parse(link)
	if err != nil || mediaType != "" && !strings.EqualFold(mediaType, "application/octet-stream") {
		return ""
	}
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".mp3", ".m4a", ".aac", ".ogg", ".oga", ".opus", ".flac", ".wav":
		return "audio"
	case ".mp4", ".m4v", ".webm", ".ogv":
		return "video"
	}
	return ""
}

func (h *desk) entry(r *http.Request) (view, error) {
	ctx, now := r.Context(), h.now(r)
	id, err := entryID(r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	entry, err := h.Shelf.Entry(ctx, id)
	if err != nil {
		return view{}, err
	}
	record, number := entry.Record, entry.Feed
	e := &record.Entry
	if e.Feed.Secret() && !loggedIn(ctx) {
		return view{}, ErrNone
	}
	known, err := h.Shelf.Known(ctx, number)
	if err != nil {
		return view{}, err
	}
	always := known.Look.Pictures
	p := &entryPage{
		Path: "/entries/" + id.String(), ID: id.String(), Item: entry.Item, Title: safehtml.Title(e.Title),
		Link: webLink(e.Link), Feed: titleOf(e.Feed, known.Name, known.Title),
		FeedPath: pathOfFeed(number), FeedIcon: known.Look.Icon.Path(),
		Authors: safehtml.Title(strings.Join(e.Authors, ", ")),
		Time:    moment{record.Time(), now}, Seen: moment{record.Seen, now}, Confirmed: record.Confirmed,
		Always: always, Shown: always || r.FormValue("images") == "1" && h.own(r) == nil, Number: number,
		Full: entry.Full, Fetched: moment{entry.Full.At, now},
	}
	if !record.Source.IsZero() {
		p.Neighbor = "A neighbor" // which one is for the owner to know
		if viewerOf(ctx).owns() {
			p.Neighbor = record.Source.String()
		}
	}
	p.Said = h.stars(ctx).of(starKey{e.Feed, id})
	p.Told = known.Sharing == archive.SharesLabels && known.Subscribed && !known.Discreet && !known.Confidential() &&
		!known.Secret() && viewerOf(ctx).owns()
	if p.entryLabels, err = h.entryLabels(ctx, p.Item.ID); err != nil {
		return view{}, err
	}
	media := h.fill(p, &record)
	var play bool
	p.Enclosures, play = attachments(e)
	p.extrasLine = h.extras(p, e, cmp.Or(e.Extras.Language, known.Language), play)
	for _, s := range e.Rights {
		p.Rights = append(p.Rights, newRightsLine(s))
	}
	if from := e.CopiedFrom; from != (feed.Original{}) {
		p.CopiedFrom = rightsLine{webLink(from.URL), cmp.Or(safehtml.Title(from.Title), from.URL, from.ID)}
	}
	if p.Title == "" {
		p.Untitled, p.Title = true, h.safe.Opener(e)
	}
	l := shareLinkOf(r)
	p.SendTo, p.Taker = l.of(p.Link, p.Title), l.Host()
	if s, err := h.Shelf.Service(ctx); err == nil { // else the settings say what is wrong
		p.Service = s.Name()
	}
	h.divide(r, p, e.Extras.Chapters.URL)
	if err := h.around(r, p, &record); err != nil {
		return view{}, err
	}
	return view{Page: "entry", Title: cmp.Or(p.Title, "An entry of "+p.Feed), Nav: "/entries", Media: media || play,
		Body: p}, nil
}

// around finds the neighbors of an entry in the list that it was opened from, where that is no search.
func (h *desk) around(r *http.Request, p *entryPage, e *archive.Record) error {
	p.From = listingOf(r)
	if p.From.Show == "" {
		return nil
	}
	p.Path += "?" + strings.TrimSuffix(p.From.query(), "&")
	place := p.From.place(e.Seq, p.Item)
	if place == 0 || p.From.Query != "" { // what was found has no order but that of the search
		return nil
	}
	for _, side := range []struct {
		to            **headline
		before, after int64
	}{{&p.Newer, 0, place}, {&p.Older, place, 0}} {
		q := p.From.headlines(loggedIn(r.Context()), 1)
		q.Before, q.After, q.At = side.before, side.after, e.Time()
		list, err := h.Shelf.Headlines(r.Context(), q)
		if err != nil {
			return err
		}
		for _, l := range h.headlines(list, false, h.now(r)) {
			l.From = p.From
			*side.to = &l
		}
	}
	return nil
}

// open marks an entry read that is opened from a list, and leads to it. The links of our own lists alone bear a token:
// one of another site leads to the entry as well, and changes nothing.
func (h *desk) open(w http.ResponseWriter, r *http.Request) {
	id, err := entryID(r.PathValue("id"))
	if err != nil {
		h.show(w, r, h.visitor(w, r), h.failure(r, err))
		return
	}
	visit, ctx := visitOf(r), r.Context()
	if visit != "" && r.Method == http.MethodGet && r.Header.Get("Sec-Purpose") == "" &&
		hmac.Equal([]byte(r.FormValue("with")), []byte(opening(h.token(visit, r), id.String()))) {
		e, err := h.Shelf.Entry(ctx, id)
		if err == nil && e.Item.ID != 0 && !e.Item.Read && (loggedIn(ctx) || !e.Entry.Feed.Secret()) {
			err = h.Shelf.Mark(ctx, []reading.ItemID{e.Item.ID}, reading.Mark{Read: reading.Yes})
		}
		if err != nil {
			h.show(w, r, h.visitor(w, r), h.failure(r, err))
			return
		}
	}
	http.Redirect(w, r, "/entries/"+id.String()+"?"+strings.TrimSuffix(listingOf(r).query(), "&"),
		http.StatusSeeOther)
}

// opening is the token with which links of our own open an entry. It tells nothing of that of the browser's forms.
func opening(token, entry string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(entry))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// entryID reads the id of an entry.
func entryID(text string) (id feed.EntryID, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, ErrNone
	}
	return feed.EntryID(b), nil
}

// fill fills in the text of an entry, and reports whether it has sound or video.
func (h *kit) fill(p *entryPage, r *archive.Record) (media bool) {
	e := &r.Entry
	text := cmp.Or(e.Content, e.Summary)
	if p.Full.Shown {
		text = cmp.Or(p.Full.HTML, text)
	}
	a := new(article)
	if p.Shown {
		a.picture = func(at feed.URL) string { return h.pictureAt(p.Number, at) }
	}
	shown, ok := wellFormed(a.still(h.safe.Clean(text, cmp.Or(e.Link, string(e.Feed)))))
	if !ok { // its words are better than nothing
		a = new(article)
		shown = "<p>" + html.EscapeString(h.safe.Text(text)) + "</p>"
	}
	p.Article, p.Pictures = template.HTML(shown), a.pictures //nolint:gosec // sanitized
	return a.media
}

// newRightsLine is a statement of rights as the page shows it.
func newRightsLine(s string) rightsLine {
	if _, is := feed.RSL(s); is {
		return rightsLine{Text: "terms for machines (RSL)"}
	}
	return rightsLine{webLink(s), safehtml.Title(s)}
}

// webLink is an address that a page may link to, "" for any other.
func webLink(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || len(raw) > feed.MaxLinkBytes || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return raw
}

// fileName is the last part of an address, for people.
func fileName(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return link
	}
	name := strings.TrimSuffix(u.Path, "/")
	if name = safehtml.Line(name[strings.LastIndexByte(name, '/')+1:]); name == "" {
		return u.Host
	}
	return name
}

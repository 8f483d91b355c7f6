package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"feedex/feed"
	"feedex/safehtml"
)

// An extrasLine is what a publisher says of an entry beside its text and files.
type extrasLine struct {
	Language string // "" where it is not known
	Which    string // which episode it is, "" where it is none
	Lasts    string // how long it takes where no player says so, "" where it is not known
	Aside    []companionLink
	Divided  bool // it has chapters, which the page shows when it is asked to
	Chapters []chapterLine
	Unshown  string // why it shows none, "" where nothing is wrong
	Cover    string // where the node has the picture that stands for it, "" where none is to be shown
	Lead     bool   // this stands above the text: there is no player and no other picture
}

// A companionLink leads to a transcript, at the publisher's.
type companionLink struct{ Text, Link string }

// A chapterLine is a chapter.
type chapterLine struct {
	Title, Clock string
	Seconds      int
	Link         string // plays the file from there on, "" where nothing plays
}

// extras are those of an entry that is in a language. Its picture is one of those that the page shows when its reader
// asks for them.
func (h *kit) extras(p *entryPage, e *feed.Entry, language string, plays bool) (l extrasLine) {
	x := &e.Extras
	l.Language, l.Which = language, episode(x)
	if !plays {
		l.Lasts = playingTime(x.Duration)
	}
	l.Divided = x.Chapters.URL != ""
	for _, c := range x.Transcripts {
		l.Aside = append(l.Aside, companionLink{transcript(c), string(c.URL)})
	}
	if l.Lead = !plays && p.Pictures == 0; x.Image == "" || !plays && !l.Lead {
		return l
	}
	p.Pictures++
	if p.Shown {
		l.Cover = h.pictureAt(p.Number, x.Image)
	}
	return l
}

// divide fills in the chapters of an entry where its reader asked for them: the node fetches them, from wherever the
// publisher says. Whoever has them sees the node's address, and no other site can have the browser ask.
func (h *desk) divide(r *http.Request, p *entryPage, at feed.URL) {
	if at == "" || r.FormValue("chapters") != "1" || h.own(r) != nil {
		return
	}
	list, err := h.Shelf.Chapters(r.Context(), p.Number, at)
	if err != nil {
		h.Log.Debug("chapters not had", "host", at.Host(), "err", err)
		p.Unshown = safehtml.Line(err.Error())
		return
	}
	played := ""
	for _, f := range p.Enclosures {
		if f.Plays != "" {
			played, _, _ = strings.Cut(f.Link, "#")
			break
		}
	}
	for _, c := range list {
		line := chapterLine{Title: safehtml.Title(c.Title), Clock: cmp.Or(playingTime(c.Start), "0:00"),
			Seconds: int(c.Start / time.Second)}
		if played != "" {
			line.Link = fmt.Sprintf("%s#t=%d", played, line.Seconds)
		}
		p.Chapters = append(p.Chapters, line)
	}
}

// episode says which one an entry is.
func episode(x *feed.Extras) string {
	switch {
	case x.Season > 0 && x.Episode > 0:
		return fmt.Sprintf("Season %d, episode %d", x.Season, x.Episode)
	case x.Episode > 0:
		return fmt.Sprintf("Episode %d", x.Episode)
	case x.Season > 0:
		return fmt.Sprintf("Season %d", x.Season)
	}
	return ""
}

// transcript is what a link to one says: publishers have several, in forms and languages.
func transcript(c feed.Companion) string {
	_, form, _ := strings.Cut(c.Type, "/")
	var about []string
	for _, s := range []string{c.Language, map[string]string{"plain": "text", "x-subrip": "srt"}[form], form} {
		if s != "" && len(about) < 2 {
			about = append(about, s)
		}
	}
	if len(about) == 0 {
		return "Transcript"
	}
	return "Transcript (" + strings.Join(about, ", ") + ")"
}

// playingTime is how long something takes, as players show it; "" where that is not known.
func playingTime(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s == 0:
		return ""
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

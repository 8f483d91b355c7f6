package reader

import (
	"strings"
	"time"

	"feedex/feed"
)

// Namespaces of vocabularies that speak of sound and video.
const (
	itunesSpace  = "http://www.itunes.com/dtds/podcast-1.0.dtd"
	mediaSpace   = "http://search.yahoo.com/mrss/"
	podcastSpace = "https://podcastindex.org/namespace/1.0"
)

// xmlExtras are the extras of an entry as documents of XML have them: in the vocabularies of podcasts, whichever the
// document. A picture stands there twice, as programs for podcasts look for it, and as others do.
type (
	xmlExtras struct {
		Duration    int64          `xml:"itunes:duration,omitempty"` // seconds
		Season      int            `xml:"itunes:season,omitempty"`
		Episode     int            `xml:"itunes:episode,omitempty"`
		Image       *xmlHref       `xml:"itunes:image"`
		Thumbnail   *xmlCompanion  `xml:"media:thumbnail"`
		Chapters    *xmlCompanion  `xml:"podcast:chapters"`
		Transcripts []xmlCompanion `xml:"podcast:transcript"`
	}
	xmlHref struct {
		Href string `xml:"href,attr"`
	}
	xmlCompanion struct {
		URL      string `xml:"url,attr"`
		Type     string `xml:"type,attr,omitempty"`
		Language string `xml:"language,attr,omitempty"`
	}
)

// xmlExtrasOf are those of an entry that went through safehtml. The podcast index wants a type of each file.
func xmlExtrasOf(e *feed.Entry) (out xmlExtras) {
	x := &e.Extras
	out = xmlExtras{Duration: seconds(x.Duration), Season: x.Season, Episode: x.Episode}
	if x.Image != "" {
		out.Image, out.Thumbnail = &xmlHref{string(x.Image)}, &xmlCompanion{URL: string(x.Image)}
	}
	if c := x.Chapters; c.URL != "" {
		out.Chapters = &xmlCompanion{string(c.URL), mediaType(c.Type), c.Language}
	}
	for _, c := range x.Transcripts {
		out.Transcripts = append(out.Transcripts, xmlCompanion{string(c.URL), mediaType(c.Type), c.Language})
	}
	return out
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// timed is which file of an entry its duration is of: the first of sound or video, or the first; -1 for none.
func timed(e *feed.Entry) int {
	for i := range e.Enclosures {
		if kind, _, _ := strings.Cut(strings.ToLower(e.Enclosures[i].Type), "/"); kind == "audio" || kind == "video" {
			return i
		}
	}
	return min(len(e.Enclosures), 1) - 1
}

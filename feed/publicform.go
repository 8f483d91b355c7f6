package feed

import (
	"net/url"
	"regexp"
	"strings"
)

// A publicForm is how addresses look at a host, and below it, that everybody may know although a part of them was
// drawn by chance: their hosts name channels, shows and places so.
type publicForm struct {
	host string // "" for any
	form string // of path and query, as a regular expression
}

const uuidForm = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

// publicForms are those of hosts that many feeds are at, as their own pages show them to everybody. Private feeds of
// the same hosts have other forms.
var publicForms = []publicForm{
	// Channels and lists.
	{"", `/([a-z]+/)*channel/UC[0-9A-Za-z_-]{22}/?`}, // YouTube's, there and at its mirrors
	{"", `/feeds/videos\.xml\?(channel_id=UC[0-9A-Za-z_-]{22}|playlist_id=(PL|UU|FL|OL)[0-9A-Za-z_-]{10,40})`},
	{"youtube.com", `/playlist\?list=(PL|UU|FL|OL)[0-9A-Za-z_-]{10,40}`},
	{"bsky.app", `/profile/did:plc:[a-z2-7]{24}/rss`},

	// Podcasts.
	{"feeds.megaphone.fm", `/[A-Z]{2,6}[0-9]{6,14}/?`},
	{"omnycontent.com", `/d/playlist(/` + uuidForm + `){3}/podcast\.rss`},
	{"feeds.acast.com", `/public/(shows|streams)/[0-9A-Za-z-]+`},
	{"feed.pippa.io", `/public/shows/[0-9A-Za-z-]+`},
	{"anchor.fm", `/s/[0-9a-f]{6,12}/podcast/rss`},
	{"feeds.redcircle.com", `/` + uuidForm},
	{"feed.ausha.co", `/[0-9A-Za-z]{12}`},
	{"feed.xyzfm.space", `/[0-9a-z]{12}`},
	{"rss.castbox.fm", `/everest/[0-9a-f]{32}\.xml`},
	{"feeds.hubhopper.com", `/[0-9a-f]{32}\.rss`},
	{"api.riverside.fm", `/hosting/[0-9A-Za-z]{8,12}\.rss`},
	{"feeds.zencastr.com", `/f/[0-9A-Za-z_-]{8,22}\.rss`},
	{"feeds.soundon.fm", `/podcasts/` + uuidForm + `\.xml`},
	{"open.firstory.me", `/rss/user/[0-9a-z]{20,32}`},

	// News, journals and newsletters.
	{"news.google.com", `/(news/)?rss/(topics|publications|stories)/CAA[0-9A-Za-z_-]+(\?.*)?`},
	{"campaign-archive.com", `/feed\?u=[0-9a-f]{25}&id=[0-9a-f]{10}`},
	{"campaign-archive1.com", `/feed\?u=[0-9a-f]{25}&id=[0-9a-f]{10}`},
	{"campaign-archive2.com", `/feed\?u=[0-9a-f]{25}&id=[0-9a-f]{10}`},
	{"rss.beehiiv.com", `/feeds/[0-9A-Za-z]{10}\.xml`},
	{"blogger.com", `/feeds/[0-9]{10,22}(/[0-9]{10,22})?/(posts|comments)/.*`},
	{"medium.com", `/feed/.*`},
	{"pubmed.ncbi.nlm.nih.gov", `/rss/(search|journals)/[0-9A-Za-z_-]+/(\?.*)?`},
	{"eutils.ncbi.nlm.nih.gov", `/entrez/eutils/erss\.cgi\?rss_guid=[0-9A-Za-z_-]+`},

	// Software. Addresses that are not public there have a token behind them.
	{"raw.githubusercontent.com", `/[^?]*`},
	{"github.com", `/[^/?]+/[^/?]+/(commits|releases|tags|wiki|discussions)[^?]*`},
}

// drawnHosts are domains in which every customer has a name that was drawn.
var drawnHosts = []string{"cloudfront.net", "b-cdn.net", "azureedge.net"}

// compiledForms are the forms to be matched. It is read only.
var compiledForms = compiled(publicForms)

func compiled(forms []publicForm) []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(forms))
	for i, f := range forms {
		list[i] = regexp.MustCompile(`^` + f.form + `$`)
	}
	return list
}

// isPublicForm reports whether an address is public although a part of it looks drawn.
func isPublicForm(u *url.URL) bool {
	host, rest := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.EscapedPath()
	if u.RawQuery != "" {
		rest += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		return false
	}
	for i, f := range publicForms {
		at := f.host == "" || host == f.host || strings.HasSuffix(host, "."+f.host)
		if at && compiledForms[i].MatchString(rest) {
			return true
		}
	}
	return false
}

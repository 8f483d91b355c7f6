package feed

import (
	"strconv"
	"strings"
	"time"

	ext "github.com/mmcdole/gofeed/extensions"
	"github.com/mmcdole/gofeed/rss"
)

// PollingHints are a document's statements about when it is worth coming again. The zero value says nothing.
type PollingHints struct {
	// Every is how long the document stays as it is: the longer of RSS's ttl and the period of the
	// syndication module, 0 where neither is given.
	Every time.Duration
	// SkipHours are hours of the day, UTC, in which nobody needs to come: bit 0 is from midnight to one
	// (RSS 2.0, skipHours).
	SkipHours uint32
	// SkipDays are such days of the week, UTC: bit 0 is Sunday (RSS 2.0, skipDays).
	SkipDays uint8
}

const (
	allHours = 1<<24 - 1
	allDays  = 1<<7 - 1
)

// Skips reports whether the publisher wants nobody to come at t. A publisher who skips every hour, or every day, has
// misunderstood what that is for.
func (p PollingHints) Skips(t time.Time) bool {
	t = t.UTC()
	return p.SkipHours != allHours && p.SkipHours>>t.Hour()&1 == 1 ||
		p.SkipDays != allDays && p.SkipDays>>t.Weekday()&1 == 1
}

// Allowed is the first time from t on that the publisher does not skip: t itself, or a full hour.
func (p PollingHints) Allowed(t time.Time) time.Time {
	for p.Skips(t) { // a week has 168 hours, of which one is allowed
		t = t.Truncate(time.Hour).Add(time.Hour)
	}
	return t
}

// rssPace reads what an RSS document says.
func rssPace(f *rss.Feed) PollingHints {
	p := PollingHints{Every: syndicationPeriod(f.Extensions)}
	if minutes := atMost(f.TTL, 1e6); minutes > 0 {
		p.Every = max(p.Every, time.Duration(minutes)*time.Minute)
	}
	for _, text := range f.SkipHours {
		// 0 to 23 in RSS 2.0, 1 to 24 in the versions before.
		if h := atMost(text, 24); h >= 0 {
			p.SkipHours |= 1 << (h % 24)
		}
	}
	for _, text := range f.SkipDays {
		for d := time.Sunday; d <= time.Saturday; d++ {
			if strings.EqualFold(strings.TrimSpace(text), d.String()) {
				p.SkipDays |= 1 << d
			}
		}
	}
	return p
}

// syndicationPeriod is the time between updates by the RSS 1.0 syndication module: a period (a day, where only the
// other is said), divided by how often in it (once, where that is not said). Its base is ignored.
func syndicationPeriod(extensions ext.Extensions) time.Duration {
	var period time.Duration
	often := atMost(extensionText(extensions, "updateFrequency"), 1e6)
	switch strings.ToLower(extensionText(extensions, "updatePeriod")) {
	case "":
		if often > 0 {
			period = 24 * time.Hour
		}
	case "hourly":
		period = time.Hour
	case "daily":
		period = 24 * time.Hour
	case "weekly":
		period = 7 * 24 * time.Hour
	case "monthly":
		period = 30 * 24 * time.Hour
	case "yearly":
		period = 365 * 24 * time.Hour
	}
	if often > 1 {
		period /= time.Duration(often)
	}
	return period
}

// extensionText is the text of an element of the syndication module, "" without one.
func extensionText(extensions ext.Extensions, name string) string {
	return strings.TrimSpace(value1(extensions["sy"][name]))
}

// atMost reads a whole number from 0 to most; others are -1.
func atMost(text string, most int) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > most {
		return -1
	}
	return n
}

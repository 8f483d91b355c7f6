package feed

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPaceOfDocuments(t *testing.T) {
	const (
		head = `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>T</title>`
		tail = `<item><title>E</title></item></channel></rss>`
	)
	for _, test := range []struct {
		name, body string
		want       PollingHints
	}{
		{"nothing", head + tail, PollingHints{}},
		{"ttl", head + `<ttl> 90 </ttl>` + tail, PollingHints{Every: 90 * time.Minute}},
		{"ttl below zero", head + `<ttl>-5</ttl>` + tail, PollingHints{}},
		{"ttl that is no number", head + `<ttl>an hour</ttl>` + tail, PollingHints{}},
		{"ttl without end", head + `<ttl>99999999999</ttl>` + tail, PollingHints{}},
		{"skipHours", head + `<skipHours><hour>0</hour><hour> 7 ` +
			`</hour><hour>24</hour><hour>25</hour><hour>x</hour></skipHours>` + tail,
			PollingHints{SkipHours: 1 | 1<<7}},
		{"skipDays", head + `<skipDays><day>Sunday</day><day>saturday</day><day>Someday</day></skipDays>` + tail,
			PollingHints{SkipDays: 1 | 1<<6}},
		{"twice a day", head + `<sy:updatePeriod> daily </sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>` +
			tail, PollingHints{Every: 12 * time.Hour}},
		{"weekly", head + `<sy:updatePeriod>weekly</sy:updatePeriod>` + tail, PollingHints{Every: 7 * 24 * time.Hour}},
		{"four times, of a day", head + `<sy:updateFrequency>4</sy:updateFrequency>` + tail,
			PollingHints{Every: 6 * time.Hour}},
		{"never", head + `<sy:updatePeriod>never</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>` +
			tail, PollingHints{}},
		{"the longer one", head + `<ttl>30</ttl><sy:updatePeriod>hourly</sy:updatePeriod>` + tail,
			PollingHints{Every: time.Hour}},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:s="http://purl.org/rss/1.0/modules/syndication/">
			<channel rdf:about="https://example.com/"><title>T</title><s:updatePeriod>hourly</s:updatePeriod><s:updateFrequency>4</s:updateFrequency></channel>
			<item rdf:about="https://example.com/1"><title>E</title></item></rdf:RDF>`, PollingHints{Every: 15 * time.Minute}},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><title>T</title>
			<sy:updatePeriod>daily</sy:updatePeriod><entry><id>urn:e</id><title>E</title></entry></feed>`,
			PollingHints{Every: 24 * time.Hour}},
	} {
		doc, err := Parse("https://example.com/feed", "", []byte(test.body), time.Unix(1e9, 0))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if doc.Pace != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, doc.Pace, test.want)
		}
	}
}

func TestPaceAllows(t *testing.T) {
	friday := time.Date(2026, 3, 6, 22, 30, 0, 0, time.UTC)
	at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC) }
	for _, test := range []struct {
		name string
		pace PollingHints
		want time.Time
	}{
		{"anything", PollingHints{}, friday},
		{"other hours", PollingHints{SkipHours: 1 << 21}, friday},
		{"the next hour", PollingHints{SkipHours: 1 << 22}, at(6, 23)},
		{"past midnight", PollingHints{SkipHours: 1<<22 | 1<<23 | 1}, at(7, 1)},
		{"one hour a day", PollingHints{SkipHours: allHours &^ (1 << 21)}, at(7, 21)},
		{"after the weekend", PollingHints{SkipDays: 1<<time.Friday | 1<<time.Saturday | 1<<time.Sunday}, at(9, 0)},
		{"one hour a week", PollingHints{SkipHours: allHours &^ (1 << 21),
			SkipDays: allDays &^ (1 << time.Friday)}, at(13, 21)},
		{"no hour at all", PollingHints{SkipHours: allHours}, friday},
		{"no day at all", PollingHints{SkipDays: allDays}, friday},
	} {
		if got := test.pace.Allowed(friday); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	zone := time.FixedZone("", 5*3600) // 22:30 UTC is the next day there
	if got := (PollingHints{SkipDays: 1 << time.Saturday}).Allowed(friday.In(zone)); !got.Equal(friday) {
		t.Errorf("in another time zone: %v", got)
	}
}

func TestPaceAllowsSoon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := PollingHints{SkipHours: rapid.Uint32Range(0, allHours).Draw(t, "hours"),
			SkipDays: rapid.Uint8Range(0, allDays).Draw(t, "days")}
		from := time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "from"), 0)
		if got := p.Allowed(from); got.Before(from) || got.Sub(from) > 7*24*time.Hour || p.Skips(got) {
			t.Fatalf("%+v from %v: %v", p, from, got)
		}
	})
}

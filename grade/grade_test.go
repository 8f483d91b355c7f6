package grade_test

import (
	"encoding/json"
	"testing"
	"time"

	"feedex/grade"
)

const url = "https://example.com/feed.xml"

var day0 = time.Date(2026, 7, 4, 0, 0, 0, 0, time.UTC)

// ask is a request at so many minutes with validators A and its answer with validators B.
func ask(minute int, sent string, status int, got string) grade.Request {
	return grade.Request{
		At: day0.Add(time.Duration(minute) * time.Minute), URL: url, Status: status,
		Sent: grade.Validators{ETag: sent}, Got: grade.Validators{ETag: got},
	}
}

// first makes a request the first for its feed.
func first(r grade.Request) grade.Request {
	r.First = true
	return r
}

// fresh has the answer say that it may be used for so many minutes.
func fresh(minutes int, r grade.Request) grade.Request {
	r.Fresh = time.Duration(minutes) * time.Minute
	return r
}

// later has the answer ask the reader to stay away for so many minutes.
func later(minutes int, r grade.Request) grade.Request {
	r.RetryAfter = time.Duration(minutes) * time.Minute
	return r
}

// at has the request be for another URL.
func at(u string, r grade.Request) grade.Request {
	r.URL = u
	return r
}

// private has a Retry-After count for the URL alone.
func private(r grade.Request) grade.Request {
	r.Private = true
	return r
}

func TestGrades(t *testing.T) {
	const other = "https://example.com/other.xml"
	for _, tc := range []struct {
		name    string
		respect string
		want    grade.Rating
		log     []grade.Request
	}{
		{"conditional", "conditional requests", grade.Good,
			[]grade.Request{ask(0, "", 200, "a"), ask(60, "a", 304, ""), ask(120, "a", 200, "b"),
				ask(180, "b", 304, "b")}},
		{"never conditional", "conditional requests", grade.Poor,
			[]grade.Request{ask(0, "", 200, "a"), ask(60, "", 200, "a")}},
		{"no validators to send", "conditional requests", grade.NotTested,
			[]grade.Request{ask(0, "", 200, ""), ask(60, "", 200, "")}},
		{"nothing known of the first in the log", "conditional requests", grade.NotTested,
			[]grade.Request{ask(0, "a", 304, "")}},
		{"what a 304 confirms is known", "conditional requests", grade.Poor,
			[]grade.Request{ask(0, "a", 304, ""), ask(60, "", 200, "a")}},
		{"a delta has validators", "conditional requests", grade.Good,
			[]grade.Request{ask(0, "", 226, "a"), ask(60, "a", 304, "")}},

		{"unmodified", "validators", grade.Good, []grade.Request{ask(0, "", 200, `W/"a"`), ask(60, `W/"a"`, 304, "")}},
		{"unmodified across a failure", "validators", grade.Good,
			[]grade.Request{ask(0, "", 200, "a"), ask(60, "a", 500, ""), ask(120, "a", 304, "")}},
		{"modified", "validators", grade.Poor, []grade.Request{ask(0, "", 200, `W/"a"`), ask(60, `"a"`, 304, "")}},
		{"outdated", "validators", grade.Poor, []grade.Request{ask(0, "", 200, "a"), ask(60, "a", 200, "b"),
			ask(120, "a", 200, "b")}},
		{"a 304 may bring a new one", "validators", grade.Good,
			[]grade.Request{ask(0, "", 200, "a"), ask(60, "a", 304, "b"), ask(120, "b", 304, "")}},

		{"whole once a day", "whole documents", grade.Good,
			[]grade.Request{ask(0, "", 200, "a"), ask(24*60, "", 200, "a")}},
		{"whole twice a day", "whole documents", grade.Poor,
			[]grade.Request{ask(0, "", 200, "a"), ask(24*60-1, "", 200, "a")}},

		{"waits while fresh", "freshness", grade.Good, []grade.Request{fresh(90, ask(0, "", 200, "a")),
			ask(90, "a", 304, "")}},
		{"asks while fresh", "freshness", grade.Poor, []grade.Request{fresh(90, ask(0, "", 200, "a")),
			ask(89, "a", 304, "")}},
		{"a 304 renews it", "freshness", grade.Poor, []grade.Request{fresh(90, ask(0, "", 200, "a")),
			fresh(90, ask(90, "a", 304, "")), ask(150, "a", 304, "")}},
		{"a day is enough", "freshness", grade.Good, []grade.Request{fresh(365*24*60, ask(0, "", 200, "a")),
			ask(24*60, "a", 304, "")}},

		{"stays away", "patience", grade.Good, []grade.Request{later(30, ask(0, "", 429, "")), ask(30, "", 200, "")}},
		{"does not", "patience", grade.Poor, []grade.Request{later(30, ask(0, "", 429, "")), ask(29, "", 200, "")}},
		{"nor from the host", "patience", grade.Poor, []grade.Request{later(30, ask(0, "", 429, "")),
			at(other, ask(29, "", 200, ""))}},
		{"which is private", "patience", grade.Good, []grade.Request{private(later(30, ask(0, "", 429, ""))),
			at(other, ask(29, "", 200, ""))}},

		{"one request", "subscribing", grade.Good, []grade.Request{first(ask(0, "", 200, "a")), ask(60, "a", 304, "")}},
		{"two", "subscribing", grade.Poor, []grade.Request{first(ask(0, "", 200, "a")), ask(0, "a", 304, "")}},
		{"a redirect is none", "subscribing", grade.Good,
			[]grade.Request{first(ask(0, "", 301, "")), at(other, ask(0, "", 200, "a"))}},

		{"no repeats", "repeats", grade.Good, []grade.Request{ask(0, "", 200, "a"), ask(1, "a", 304, "")}},
		{"repeats", "repeats", grade.Poor, []grade.Request{ask(0, "", 200, "a"), ask(1, "a", 304, ""),
			ask(1, "a", 304, "")}},

		{"gone", "gone", grade.Good, []grade.Request{ask(0, "", 410, "")}},
		{"and asked for", "gone", grade.Poor, []grade.Request{ask(0, "", 410, ""), ask(3000, "", 410, "")}},

		{"hourly", "pace", grade.Good, []grade.Request{ask(0, "", 200, ""), ask(60, "", 200, "")}},
		{"half-hourly", "pace", grade.Fair, []grade.Request{ask(0, "", 200, ""), ask(30, "", 200, "")}},
		{"half-hourly by invitation", "pace", grade.Good,
			[]grade.Request{fresh(30, ask(0, "", 200, "")), ask(30, "", 200, "")}},
		{"within minutes", "pace", grade.Poor, []grade.Request{ask(0, "", 200, ""), ask(9, "", 200, "")}},
		{"without any answer before", "pace", grade.NotTested, []grade.Request{ask(0, "", 0, ""), ask(9, "", 200, "")}},
	} {
		hosts := grade.Hosts(tc.log)
		if len(hosts) != 1 || hosts[0].Host != "example.com" || hosts[0].Requests != len(tc.log) {
			t.Fatalf("%s: %+v", tc.name, hosts)
		}
		found := false
		for _, g := range hosts[0].Grades {
			if g.Reason == "" {
				t.Errorf("%s: %s has no reason", tc.name, g.Respect)
			}
			if g.Respect == tc.respect {
				if found = true; g.Mark != tc.want {
					t.Errorf("%s: %s is %v (%s), want %v", tc.name, g.Respect, g.Mark, g.Reason, tc.want)
				}
			}
		}
		if !found {
			t.Errorf("%s: no grade in %q", tc.name, tc.respect)
		}
	}
}

// One slip in a hundred requests does not make a bad reader.
func TestOneSlipIsFair(t *testing.T) {
	log := []grade.Request{ask(0, "", 200, "a"), ask(60, "", 200, "a")}
	for i := range 99 {
		log = append(log, ask(60*(i+2), "a", 304, ""))
	}
	h := grade.Hosts(log)[0]
	if got := h.Grades[0]; got.Mark != grade.Fair ||
		got.Reason != "1 of 100 requests for a known document were not conditional" {
		t.Errorf("got %v: %s", got.Mark, got.Reason)
	}
	if h.Mark() != grade.Poor { // the slip came within a day of the first
		t.Errorf("the worst is %v", h.Mark())
	}
}

// Nor does one outdated validator in a hundred; but none may be made up.
func TestOneOutdatedValidatorIsFair(t *testing.T) {
	for sent, want := range map[string]grade.Rating{"a": grade.Fair, "c": grade.Poor} {
		log := []grade.Request{ask(0, "", 200, "a"), ask(60, "a", 200, "b"), ask(120, sent, 200, "b")}
		for i := range 98 {
			log = append(log, ask(60*(i+3), "b", 304, ""))
		}
		if got := grade.Hosts(log)[0].Grades[1]; got.Mark != want {
			t.Errorf("sent %q once: %v, %s; want %v", sent, got.Mark, got.Reason, want)
		}
	}
}

// Hosts are graded one by one, whatever the order of the log.
func TestHostsApart(t *testing.T) {
	a, b := ask(60, "a", 304, ""), ask(0, "", 200, "a")
	c := at("http://EXAMPLE.net:8080/x", ask(30, "", 404, ""))
	c.Feed = "http://example.net/x"
	hosts := grade.Hosts([]grade.Request{a, c, b})
	if len(hosts) != 2 || hosts[0].Host != "example.com" || hosts[1].Host != "example.net" {
		t.Fatalf("%+v", hosts)
	}
	if h := hosts[0]; h.Addresses != 1 || h.Requests != 2 || h.Unchanged != 1 || h.Failed != 0 ||
		h.Grades[0].Mark != grade.Good {
		t.Errorf("%+v", h)
	}
	if h := hosts[1]; h.Addresses != 1 || h.Requests != 1 || h.Failed != 1 {
		t.Errorf("%+v", h)
	}
	if len(grade.Hosts(nil)) != 0 {
		t.Error("of no requests there are no hosts")
	}
}

func TestMarksAsText(t *testing.T) {
	for _, m := range []grade.Rating{grade.NotTested, grade.Good, grade.Fair, grade.Poor} {
		text, err := json.Marshal(m)
		var back grade.Rating
		if err != nil || json.Unmarshal(text, &back) != nil || back != m {
			t.Errorf("%v: %s, %v, %v", m, text, err, back)
		}
	}
	if new(grade.Rating).UnmarshalText([]byte("fine")) == nil {
		t.Error("a mark that is none was read")
	}
}

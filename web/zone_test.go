package web_test

import (
	"strings"
	"testing"
	"time"
)

// Times are said by the clock of the browser, and days begin by it. What is no zone leaves the clock of the node.
func TestTimesAreSaidInTheZoneOfTheBrowser(t *testing.T) {
	n := newNode(t)
	k := n.known[1]
	k.Status.RefreshAt = noon.Add(5 * time.Minute)
	n.known[1] = k
	h := newHandler(t, n)
	for zone, want := range map[string][]string{
		"Asia/Kathmandu":                    {">17:50</time>", "Friday, 20 November 2026, 16:15:00 &#43;0545"},
		"America/Argentina/Buenos_Aires":    {">09:05</time>", "20 November 2026, 07:30:00"},
		"Etc/GMT+12":                        {">00:05</time>", "Thursday, 19 November 2026, 22:30:00 -12"},
		"":                                  {">12:05</time>", "10:30:00 UTC"},
		"Mars/Olympus":                      {">12:05</time>"},
		"../../etc/passwd":                  {">12:05</time>"},
		"/etc/localtime":                    {">12:05</time>"},
		"Local":                             {">12:05</time>"},
		strings.Repeat("A/", 40) + "B":      {">12:05</time>"},
		"Europe/<script>":                   {">12:05</time>"},
		"Europe/Berlin\"; feedex_look=dark": {">12:05</time>"},
	} {
		page := get(h, "/feeds/1", "Cookie", "feedex_zone="+zone).Body.String()
		for _, s := range want {
			if !strings.Contains(page, s) {
				t.Errorf("%q: the page lacks %q:\n%s", zone, s, page)
			}
		}
	}
	get(h, "/search?q=ferry&since=2026-11-20", "Cookie", "feedex_zone=Asia/Kathmandu")
	if want := time.Date(2026, 11, 19, 18, 15, 0, 0, time.UTC); !n.searched.Since.Equal(want) {
		t.Errorf("the day begins at %v, want %v", n.searched.Since, want)
	}
}

package feed_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"feedex/feed"
)

// addresses are those in a file of testdata/addresses, as far as they are the URLs of feeds.
func addresses(t *testing.T, name string) (list []feed.URL) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "addresses", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		u, err := feed.ParseURL(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, u)
	}
	return list
}

// Of the public addresses that people follow at most one in a hundred is held back: of those that the rules were made
// by, and of those that they were not.
func TestPublicAddressesAreOpen(t *testing.T) {
	for _, name := range []string{"public-tuned.txt", "public-held-out.txt"} {
		list := addresses(t, name)
		held := 0
		for _, u := range list {
			if s, part := u.Secrecy(); s != feed.Open {
				held++
				t.Logf("%s holds back %s: %s", name, u, part)
			}
		}
		t.Logf("%s: %d of %d held back", name, held, len(list))
		if len(list) < 600 || 100*held > len(list) {
			t.Errorf("%s: %d of %d public addresses are held back, want 1%% at most", name, held, len(list))
		}
	}
}

// Public addresses that look like secret ones are told from them, by their hosts and names.
func TestPublicAddressesThatLookSecret(t *testing.T) {
	for _, u := range addresses(t, "drawn.txt") {
		if s, part := u.Secrecy(); s != feed.Open {
			t.Errorf("%s is held back: %s", u, part)
		}
	}
}

// None of the addresses that let their bearer in is taken for a public one, and each is told from what. The explanation
// does not give it away.
func TestSecretAddressesAreNone(t *testing.T) {
	list := addresses(t, "secret.txt")
	for _, u := range list {
		s, part := u.Secrecy()
		if s == feed.Open || part == "" || !u.Secret() {
			t.Errorf("%s is taken for public", u)
		}
		between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		for word := range strings.FieldsFuncSeq(part, between) {
			if len(word) > 8 && strings.ContainsAny(word, "0123456789") {
				t.Errorf("%s: %q gives it away", u, part)
			}
		}
	}
	if len(list) < 120 {
		t.Errorf("%d addresses", len(list))
	}
}

// Keys that are drawn by chance are told from words: the share of keys that are, by how they are drawn.
func TestKeysDrawnByChance(t *testing.T) {
	const lower, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	upper := strings.ToUpper(lower)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		alphabet string
		length   int
		want     float64 // the share that is to be found
	}{
		{digits + "abcdef", 12, .99}, {digits + "abcdef", 16, .998}, {digits + "abcdef", 32, 1},
		{lower + digits, 12, .98}, {lower + digits, 16, .995}, {lower + digits, 20, .999},
		{upper + "234567", 16, .98}, {upper + "234567", 26, .999},
		{lower, 20, .94}, {lower, 32, .995},
		{lower + upper + digits, 10, .97}, {lower + upper + digits, 16, .997}, {lower + upper + digits, 22, .9995},
		{lower + upper + digits + "-_", 22, .999}, {lower + upper + digits + "-_", 43, 1},
	} {
		const keys = 10_000
		found := 0
		for range keys {
			key := make([]byte, c.length)
			for i := range key {
				key[i] = c.alphabet[rng.IntN(len(c.alphabet))]
			}
			if feed.URL("https://members.example.com/feeds/" + string(key) + "/rss.xml").Secret() {
				found++
			}
		}
		t.Logf("%d of %d characters: %.2f%% of the keys found", c.length, len(c.alphabet), float64(found)/keys*100)
		if float64(found) < c.want*keys {
			t.Errorf("%d of %d characters: %d of %d keys found", c.length, len(c.alphabet), found, keys)
		}
	}
}

func TestSecrecyNamesThePart(t *testing.T) {
	const drawn = "x7kq2mbv5ytzlp9r4wsd"
	for u, want := range map[feed.URL]struct {
		secrecy feed.Secrecy
		part    string
	}{
		"https://example.com/feed":                    {feed.Open, ""},
		"https://ann:word@example.com/":               {feed.Credentials, "a user name or a password"},
		"https://example.com/feed?a=1&rss_token=x":    {feed.Key, `the parameter "rss_token"`},
		"https://example.com/feed;jsessionid=x":       {feed.Key, `the parameter "jsessionid"`},
		"https://example.com/feed#access_token=x":     {feed.Key, `the parameter "access_token"`},
		"https://example.com/private/feed":            {feed.Key, `"private" in its path`},
		"https://example.com/feeds/" + drawn + ".xml": {feed.Unsure, `"x7kq…" in its path`},
		"https://example.com/feed?list=" + drawn:      {feed.Unsure, `"x7kq…" in the parameter "list"`},
		"https://" + drawn + ".example.co.uk/":        {feed.Unsure, `"x7kq…" in the name of its host`},
		"https://example.com/?m=a@example.com": {feed.Unsure,
			`an e-mail address in the parameter "m"`},
		"https://example.com/" + drawn + "?token=x":                  {feed.Key, `the parameter "token"`},
		"https://youtube.com/channel/UCx7kQ2mBv5yTzLp9R4wsDnA?key=x": {feed.Key, `the parameter "key"`},
		"https://youtube.com/channel/UCx7kQ2mBv5yTzLp9R4wsDnA/x":     {feed.Unsure, `"UCx7…" in its path`},
		"https://youtube.com.example/playlist?list=PLx7kQ2mBv5yTz":   {feed.Unsure, `"PLx7…" in the parameter "list"`},
		// Keys that somebody made up: neither words nor chance make them.
		"https://example.com/AbCdEf0123456789AbCdEf0123":     {feed.Unsure, `"AbCd…" in its path`},
		"https://example.com/feed?list=0123456789abcdefghij": {feed.Unsure, `"0123…" in the parameter "list"`},
		"https://example.com/VMP7123456789":                  {feed.Open, ""},
		"https://example.com/TheDefinitiveHistory1234":       {feed.Open, ""},
		"https://example.com/12345678901234567":              {feed.Open, ""},
		"http://%zz":                                         {feed.Key, "an address that cannot be read"},
	} {
		if s, part := u.Secrecy(); s != want.secrecy || part != want.part {
			t.Errorf("%s: %v, %s; want %v, %s", u, s, part, want.secrecy, want.part)
		}
	}
}

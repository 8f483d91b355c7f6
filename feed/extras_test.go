package feed

import "testing"

// Addresses that are signed anew each time, and nothing else, make extras that resemble those of before.
func TestExtrasSum(t *testing.T) {
	of := func(image, chapters, transcript URL) ExtrasSum {
		x := Extras{Image: image, Chapters: Companion{URL: chapters}}
		if transcript != "" {
			x.Transcripts = []Companion{{URL: transcript}}
		}
		return x.Sum()
	}
	signed := of("https://a.example/p?sig=1", "https://a.example/c", "https://a.example/t?sig=1")
	for name, test := range map[string]struct {
		other            ExtrasSum
		equal, resembles bool
	}{
		"the same":         {of("https://a.example/p?sig=1", "https://a.example/c", "https://a.example/t?sig=1"), true, true},
		"signed anew":      {of("https://a.example/p?sig=2", "https://a.example/c", "https://a.example/t?sig=2"), false, true},
		"without a query":  {of("https://a.example/p", "https://a.example/c", "https://a.example/t"), false, true},
		"another path":     {of("https://a.example/q?sig=1", "https://a.example/c", "https://a.example/t?sig=1"), false, false},
		"one less":         {of("https://a.example/p?sig=1", "https://a.example/c", ""), false, false},
		"the other way":    {of("https://a.example/c", "https://a.example/p?sig=1", "https://a.example/t?sig=1"), false, false},
		"nothing":          {0, false, false},
		"the queries turn": {of("https://a.example/p", "https://a.example/c?sig=1", "https://a.example/t?sig=1"), false, true},
	} {
		if got := signed == test.other; got != test.equal {
			t.Errorf("%s: equal %v", name, got)
		}
		if got := signed.Resembles(test.other); got != test.resembles || test.other.Resembles(signed) != got {
			t.Errorf("%s: resembles %v", name, got)
		}
	}
	if none := (&Extras{}).Sum(); none != 0 || !none.Resembles(0) {
		t.Errorf("of none it is %x", none)
	}
}

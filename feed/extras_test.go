package feed

import "testing"

// Addresses that are signed anew each time, and nothing else, make extras that resemble those of before.
func TestExtrasSum(t *testing.T) {
	of := func(image, chapters, transcript string) ExtrasSum {
		const at = "https://a.example/"
		x := Extras{Image: URL(at + image), Chapters: Companion{URL: URL(at + chapters)}}
		if transcript != "" {
			x.Transcripts = []Companion{{URL: URL(at + transcript)}}
		}
		return x.Sum()
	}
	signed := of("p?sig=1", "c", "t?sig=1")
	for name, test := range map[string]struct {
		other            ExtrasSum
		equal, resembles bool
	}{
		"the same":         {of("p?sig=1", "c", "t?sig=1"), true, true},
		"signed anew":      {of("p?sig=2", "c", "t?sig=2"), false, true},
		"without a query":  {of("p", "c", "t"), false, true},
		"another path":     {of("q?sig=1", "c", "t?sig=1"), false, false},
		"one less":         {of("p?sig=1", "c", ""), false, false},
		"the other way":    {of("c", "p?sig=1", "t?sig=1"), false, false},
		"nothing":          {0, false, false},
		"the queries turn": {of("p", "c?sig=1", "t?sig=1"), false, true},
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

package archive

import "testing"

// What is shared is read as it is written.
func TestSharings(t *testing.T) {
	for s := SharesNothing; s <= SharesLabels; s++ {
		if got, err := ParseSharing(s.String()); got != s || err != nil {
			t.Errorf("%v is read as %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "true", "Stars"} {
		if got, err := ParseSharing(s); err == nil {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}

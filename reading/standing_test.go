package reading_test

import (
	"errors"
	"testing"

	"feedex/reading"
)

// What neighbors would not answer, or must not hear, is refused where they are to be asked, and there alone.
func TestStandingWords(t *testing.T) {
	for words, standing := range map[string]bool{
		"storm":                        true,
		"storm NOT brain":              true,
		"author:rose OR title:walrus":  true,
		"a* b* c* d*":                  true,
		"a* b* c* (d* OR e*)":          false,
		"NOT storm":                    false,
		"NOT storm OR hail":            false,
		`feed:"http://example.com/x"`:  false,
		"storm (hail OR NOT feed:com)": false,
	} {
		for _, w := range []reading.FilterWish{{Name: "a", Words: words}, {Name: "a", Words: words, Standing: true}} {
			_, _, err := w.Checked()
			if bad := w.Standing && !standing; bad != errors.Is(err, reading.ErrStanding) || !bad && err != nil {
				t.Errorf("%+v: %v", w, err)
			}
		}
	}
}

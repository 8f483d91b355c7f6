package trace

import (
	"slices"
	"testing"
	"time"
)

// Surveyed feeds change as often as the survey says, and begin with a full document.
func TestSurveyedShape(t *testing.T) {
	const week = 7 * 24 * time.Hour
	s := Surveyed(1, 4000, week)
	count := map[string]int{}
	for _, f := range s.Feeds {
		if !slices.IsSorted(f.Times) || f.Times[f.Window-1] >= s.From.Unix() || len(f.Times) > f.Window &&
			f.Times[f.Window] < s.From.Unix() {
			t.Fatalf("%s: the document does not begin with exactly %d entries", f.Name, f.Window)
		}
		switch every := f.Times[1] - f.Times[0]; {
		case every < 600 || every > 7*86400:
			t.Errorf("%s publishes every %d s", f.Name, every)
		case every < 3600:
			count["quick"]++
		case every == 7*86400:
			count["still"]++
		}
	}
	if n := count["quick"]; n < 340 || n > 460 {
		t.Errorf("%d of 4,000 feeds publish within an hour, want about 10%%", n)
	}
	if n := count["still"]; n < 1880 || n > 2120 {
		t.Errorf("%d of 4,000 feeds publish once a week, want about 50%%", n)
	}
	more := Surveyed(1, 9000, week)
	if !slices.Equal(more.Feeds[7].Times, s.Feeds[7].Times) {
		t.Error("more feeds change those that there were")
	}
	if Surveyed(2, 4000, week).Hash() == s.Hash() {
		t.Error("another seed gives the same feeds")
	}
}

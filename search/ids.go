package search

import "time"

const (
	// idLife is for how long an id is remembered.
	idLife = 10 * time.Minute
	// maxIDs is how many are: as many as all neighbors may ask for in that time, 64 and 100 that are hosted.
	maxIDs = (64 + 100) * PerMinute * int(idLife/time.Minute)
)

// IDs remembers which queries were seen. The zero IDs has seen none.
type IDs struct {
	at    map[string]time.Time
	order []string // the oldest first
}

// Add notes an id, and reports whether it is new: was not added in the last ten minutes.
func (s *IDs) Add(now time.Time, id string) bool {
	if s.at == nil {
		s.at = make(map[string]time.Time)
	}
	for len(s.order) > 0 && (len(s.order) >= maxIDs || now.Sub(s.at[s.order[0]]) >= idLife) {
		delete(s.at, s.order[0])
		s.order = s.order[1:]
	}
	if _, known := s.at[id]; known {
		return false
	}
	s.at[id] = now
	s.order = append(s.order, id)
	return true
}

package when

import (
	"slices"
	"time"
)

// Later is the later of two times.
func Later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// Earlier is the earlier of two times.
func Earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }

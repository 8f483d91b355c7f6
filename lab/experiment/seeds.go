package experiment

import (
	"context"

	"feedex/lab"
	"feedex/lab/report"
)

// A Run runs an experiment. If ctx ends before it is done, the Report says so and shows what there was by then.
type Run func(ctx context.Context, progress Progress) (*report.Report, error)

// maxSeeds is for how many seeds an experiment is run at most.
const maxSeeds = 1000

// OverSeeds runs an experiment for so many seeds, from the first on, and sums up what they came to. One seed begins
// after the other, as the worlds of one use all processors and may fill the memory. The error wraps ErrSetting.
func OverSeeds(first lab.Seed, count int, of func(seed lab.Seed) Run) Run {
	if count == 1 {
		return of(first)
	}
	return func(ctx context.Context, progress Progress) (*report.Report, error) {
		if count < 1 || count > maxSeeds {
			return nil, impossible("%d seeds; want 1 to %d", count, maxSeeds)
		}
		var reports []*report.Report
		for i := range count {
			if i > 0 && ctx.Err() != nil {
				break
			}
			tell := func(done float64) {
				if progress != nil {
					progress((float64(i) + done) / float64(count))
				}
			}
			r, err := of(first+lab.Seed(i))(ctx, tell)
			if err != nil {
				return nil, err
			}
			reports = append(reports, r)
		}
		return report.OverSeeds(reports, count), nil
	}
}

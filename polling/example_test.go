package polling_test

import (
	"fmt"
	"time"

	"feedex/polling"
)

func ExampleFeedEx() {
	policy := polling.FeedEx{} // between 30 min and 16 h, a fifth new
	t := policy.First()
	fmt.Println("begin with", t)
	for _, poll := range []polling.Poll{
		{Listed: 15, New: 9},
		{Listed: 15, New: 4},
		{Listed: 15, New: 3},
		{}, // HTTP 304
	} {
		poll.Interval = t
		t = policy.Interval(poll)
		fmt.Printf("%d of %d new: %v\n", poll.New, poll.Listed, t)
	}
	// Output:
	// begin with 2h0m0s
	// 9 of 15 new: 1h0m0s
	// 4 of 15 new: 30m0s
	// 3 of 15 new: 30m0s
	// 0 of 0 new: 1h0m0s
}

func ExampleFeedEx_Validate() {
	fmt.Println(polling.FeedEx{Min: time.Hour, Max: 10 * time.Minute}.Validate())
	// Output: setting out of range: shortest interval is 1h0m0s, longest is 10m0s
}

func ExampleFixed() {
	policy := polling.Fixed{Every: 4 * time.Hour}
	fmt.Println(policy.First(), policy.Interval(polling.Poll{Interval: 4 * time.Hour, Listed: 15, New: 15}))
	// Output: 4h0m0s 4h0m0s
}

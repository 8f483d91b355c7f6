package main

// A labRun is one or several command lines of the experiments, whose tables and figures stand together.
type labRun struct {
	name    string
	title   string
	page    string   // below docs/evaluation, without its suffix
	minutes float64  // about how long it takes on two cores
	full    []string // of each command what follows "feedex lab"
	quick   []string // the same at a size that takes seconds, for tests
	lists   bool     // takes --lists
}

// labRuns are the runs that make the tables and figures of docs/evaluation.
func labRuns() []labRun {
	return []labRun{
		{name: "publishing", title: "What feeds publish", page: "publishing", minutes: .1,
			full: []string{"publishing"}, quick: []string{"publishing"}},
		{name: "polling", title: "Polling policies, one reader", page: "polling", minutes: .2,
			full:  []string{"polling --seed 1 --seeds 1"},
			quick: []string{"polling --seed 1 --seeds 1 --least 20 --hours 72"}},
		{name: "polling-active", title: "Polling policies, feeds with an entry a day or five", page: "polling",
			minutes: .3,
			full:    []string{"polling --seed 1 --seeds 1 --least 1", "polling --seed 1 --seeds 1 --least 5"},
			quick:   []string{"polling --seed 1 --seeds 1 --least 40 --hours 48"}},
		{name: "polling-shared", title: "Polling policies, a few neighbors", page: "polling", minutes: 5,
			full:  []string{"polling --shared --nodes 1,2,5,13", "polling --shared --nodes 8,16"},
			quick: []string{"polling --shared --nodes 1,2 --seeds 1 --hours 48"}},
		{name: "paper", title: "The evaluation of FeedEx", page: "paper", minutes: 4,
			full:  []string{"paper --seed 1 --seeds 1"},
			quick: []string{"paper --seed 1 --seeds 2 --nodes 12 --hours 2 --feeds 5 --intervals .5,1"}},
		{name: "paper-real", title: "The same among real conditions", page: "paper", minutes: 8,
			full:  []string{"paper --seed 1 --seeds 1 --world real --intervals 1,4,16"},
			quick: []string{"paper --world real --seeds 1 --nodes 10 --hours 1 --feeds 5 --intervals .5"}},
		{name: "paper-people", title: "The same with interests as people have them", page: "paper", minutes: 4,
			lists: true,
			full:  []string{"paper --seed 1 --seeds 1 --world people --intervals 4,16"},
			quick: []string{"paper --world people --seeds 1 --nodes 10 --hours 2 --intervals 1"}},
		{name: "paper-loss", title: "Lost messages, with a bound and without", page: "paper", minutes: 12,
			full:  lossRuns(),
			quick: []string{"paper --seeds 1 --nodes 10 --hours 1 --feeds 5 --intervals .5 --no-encoding --loss .1"}},
		{name: "paper-turns", title: "What polling in turn is worth", page: "paper", minutes: 32,
			full:  []string{"paper --turns --seeds 1 --intervals 16 --no-encoding"},
			quick: []string{"paper --turns --seeds 1 --nodes 10 --hours 2 --feeds 5 --intervals 1"}},
		{name: "publisher", title: "What a publisher sees", page: "publisher", minutes: 3,
			full:  []string{"publisher --seed 1 --nodes 2,5,13 --times 2", "publisher --seed 1 --nodes 1,10,100"},
			quick: []string{"publisher --seed 1 --nodes 1,3 --hours 48 --feeds 1 --times 4"}},
		{name: "interests", title: "Interests of people", page: "interests", minutes: 3, lists: true,
			full:  []string{"interests --seed 1", "interests --seed 1 --people 251"},
			quick: []string{"interests --seed 1 --nodes 10 --hours 12"}},
		{name: "interests-people", title: "Who has company among many", page: "interests", minutes: 2,
			full:  []string{"interests --seed 1 --people 251,1000,10000,100000"},
			quick: []string{"interests --seed 1 --people 20,200"}},
		{name: "interests-volunteers", title: "Volunteers", page: "interests", minutes: 4,
			full:  []string{"interests --seed 1 --nodes 60 --hours 96 --volunteer 200 --no-encoding"},
			quick: []string{"interests --seed 1 --nodes 8 --hours 12 --volunteer 5 --no-encoding"}},
		{name: "recommend", title: "Feeds that others like you read", page: "recommend", minutes: 1, lists: true,
			full:  []string{"recommend", "recommend --volunteer 200"},
			quick: []string{"recommend --seeds 1"}},
		{name: "corona", title: "The setting of Corona", page: "corona", minutes: 5,
			full: []string{"corona --seed 1", "corona --seed 1 --equal-load --no-encoding",
				"corona --seed 2 --equal-load --no-encoding",
				"corona --seed 3 --equal-load --no-encoding"},
			quick: []string{"corona --seed 1 --nodes 12 --channels 8 --subscriptions 60 --hours 1 --equal-load"}},
		{name: "corona-channels", title: "Corona's setting, more channels", page: "corona", minutes: 2,
			full:  []string{"corona --seed 1 --equal-load --no-encoding --channels 1000 --subscriptions 5000"},
			quick: []string{"corona --equal-load --no-encoding --nodes 9 --channels 20 --subscriptions 30 --hours 1"}},
		{name: "churn", title: "Nodes that come and go", page: "churn", minutes: 2,
			full: []string{"churn --seed 1 --seeds 1 --nodes 60 --hours 8 --interval 2 --stays 24,2,1,.5,.1667",
				"churn --seed 1 --seeds 1 --nodes 40 --hours 24 --interval 8 --stays 72,5,1"},
			quick: []string{"churn --seed 1 --seeds 1 --nodes 10 --hours 2 --interval .5 --stays 1 --feeds 5"}},
		{name: "nat", title: "Nodes that nobody can dial", page: "nat", minutes: 26,
			full: []string{"nat --seed 1 --no-encoding", "nat --seed 2 --no-encoding", "nat --seed 3 --no-encoding",
				"nat --seed 1 --no-encoding --nodes 60", "nat --seed 2 --no-encoding --nodes 60",
				"nat --seed 3 --no-encoding --nodes 60",
				"nat --seed 1 --no-encoding --nodes 60 --settled"},
			quick: []string{"nat --seed 1 --nodes 20 --hours 4 --interval 1 --feeds 5 --no-encoding"}},
		{name: "freeriders", title: "Those who take without giving", page: "freeriders", minutes: 12,
			full:  []string{"freeriders --seed 1 --nodes 48"},
			quick: []string{"freeriders --seed 1 --nodes 10 --hours 4 --interval 1 --feeds 4 --of 8"}},
		{name: "attacks", title: "Attacks", page: "attacks", minutes: 51,
			full: []string{"attacks --seed 1 --rows 1,2,3,4,5,7,10,11,12,13,14,15,17,18,22,23,24,26,27",
				"attacks --seed 1 --rows 28", "attacks --seed 1 --rows 29,30", "attacks --seed 1 --rows 31",
				"attacks --seed 1 --rows 32", "attacks --seed 2 --rows 32", "attacks --seed 3 --rows 32",
				"attacks --seed 1 --rows 33", "attacks --seed 1 --rows 34",
				"attacks --seed 2 --rows 34", "attacks --seed 3 --rows 34", "attacks --seed 1 --rows 35"},
			quick: []string{"attacks --seed 1 --rows 3 --nodes 10"}},
		{name: "query", title: "What queries find", page: "query", minutes: 15,
			full:  []string{"query --seed 1 --seeds 1 --nodes 161,1000,4000,10000 --trials 30"},
			quick: []string{"query --seed 1 --seeds 1 --nodes 20 --trials 1 --flooders 0"}},
		{name: "rings", title: "Exchanges in rings", page: "rings", minutes: 7,
			full:  []string{"rings --seed 1"},
			quick: []string{"rings --seed 1 --nodes 10 --hours 4 --feeds 4 --past 20"}},
		{name: "scale", title: "Growth", page: "scale", minutes: 30,
			full: []string{"scale --seed 1 --hours 1 --interval .5",
				"scale --seed 1 --nodes 161,400,800 --hours 1 --interval .5 --series subscribers --relayed 10000",
				"scale --seed 1 --nodes 100 --series feeds --interval 4 --no-encoding",
				"scale --seed 1 --nodes 300 --series feeds --interval 4 --no-encoding",
				"scale --seed 1 --nodes 161,1000 --series subscribers --interval 4 --hours 10.79 --no-encoding"},
			quick: []string{"scale --seed 1 --nodes 12,24 --hours 1 --interval .5 --feeds 5"}},
	}
}

// lossRuns are the networks in which messages are lost, with a bound and without, of seeds 1 to 5.
func lossRuns() (lines []string) {
	for _, loss := range []string{"0", ".05", ".1", ".2"} {
		for _, bound := range []string{"10", "0"} {
			lines = append(lines, "paper --seed 1 --nodes 60 --hours 4 --intervals .5 --no-encoding --loss "+loss+
				" --bound "+bound)
		}
	}
	return lines
}

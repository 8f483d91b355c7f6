package experiment

import (
	"fmt"
	"slices"
)

// attacks are the rows of the list of threats that a simulator can show. The others are about parsers,
// addresses and connections, of which a world has none, or about queries, for which there is Queries.
func attacks() []attack {
	return []attack{
		{1, "free riding", "25% take and never give, three times as long",
			"they get <= 1%; honest >= 99.9% of, and lag <= 1.1 x, what they have without a bound", 6,
			(*trial).freeRiding},
		{2, "echoing", "25% offer a minute later what they heard offered, six times as long", "they get <= 1%", 6,
			(*trial).echoing},
		{2, "echoing with excuses",
			"they say nothing, that they are busy, or hang up when they are asked for it, three times as long",
			"they get <= 1%", 3, (*trial).excusing},
		{2, "echoing on bad links", "the same, and a tenth of all messages is lost",
			"they get <= 1%; honest >= 99.5% of, and lag <= 1.1 x, what they have without a bound", 6,
			(*trial).echoingUnderLoss},
		{3, "lying subsets", "25% claim every feed at hop 0 and bring nothing", "kept <= 6 h, and a round of adverts",
			1, (*trial).lying},
		{4, "forged entries", "10% forge an entry an hour each, six times as long",
			"junk deliveries <= 20% of forged x honest", 6, (*trial).forging},
		{5, "altered entries", "10% alter what they pass on",
			"none replaces a known text, is taken for confirmed, or outlives an own poll", 1, (*trial).altering},
		{7, "broken promises", "25% claim every did they hear of, and never deliver",
			"honest miss <= 0.1% of what came before; p99 of the spread < 5 s", 2, (*trial).breaking},
		{10, "path tampering", "20% write a victim's id into every path",
			"the victim gets all that it got before, lag < 2 x", 2, (*trial).tampering},
		{11, "eclipse", "80% of the nodes name only each other; victims restart 3 times",
			">= 2 honest neighbors in 99% of the trials", 3, (*trial).eclipsing},
		{11, "suppression", "nodes all of whose neighbors are hostile", "lag <= 1.1 x that of nodes alone", 2,
			(*trial).suppressing},
		{12, "Sybils of one address", "as many ports of one address as there are honest nodes",
			"<= 2 places a node, <= D free service", 1, (*trial).sybils},
		{13, "whitewashing by port", "25% come back every hour on another port, six times as long", "they get <= 1%", 6,
			(*trial).whitewashing},
		{14, "deficit laundering", "a leech behind a worker that has no bound for it",
			"a node gives the pair <= what the worker gave + D + 1", 1, (*trial).laundering},
		{15, "traitors", "10% are honest for half of the time, then take", "<= 2D a neighbor from then on", 1,
			(*trial).betraying},
		{18, "tracker poisoning", "a tracker is told of 10,000 victims, three days long",
			"none handed out, <= 1 call back a day each", 1, (*trial).poisoning},
		{22, "replay", "10% offer old entries again, hour by hour", "no credit, nothing of own feeds arrives again", 1,
			(*trial).replaying},
		{23, "floods", "a node forges 1,000 entries an hour",
			"credit a day <= 2 x its feeds' rate + 5 each, half where the node does not follow", 2, (*trial).flooding},
		{24, "privacy", "neighbors take what is at hop 0 for a node's own; 5 cover feeds",
			"precision <= 1/(1 + c/feeds); no private URL in any call", 1, (*trial).profiling},
		{24, "discreet feeds",
			"nodes are observed in all that they say, over one link, over all, and before any neighbor",
			"what is followed discreetly is guessed no better than by chance", 1, (*trial).observing},
		{26, "collusion", "2, 5, 10 who agree on text, time and paths, in one /24 and in several",
			"no polled entry shows other text at any time; none is taken for confirmed in one /24", 6,
			(*trial).colluding},
		{27, "slander", "10% link with all and say of all others that they forge, 5 networks",
			"honest coverage, lag and share within a minute of the first, to 2% as without, means of 5",
			2 * slanderSeeds, (*trial).slandering},
	}
}

// attackRows are the numbers of the rows that there are.
func attackRows() (rows []int) {
	for _, x := range attacks() {
		rows = append(rows, x.row)
	}
	return slices.Compact(rows)
}

// report shows what came of the attacks.
func (a Attacks) report(c crowd, rows []AttackRow) *Report {
	r := &Report{
		Title: "Attacks on nodes of this program in virtual time, each against its pass mark",
		Seed:  a.Seed, Traces: a.Traces.Hash(), Result: rows,
		Setting: []string{
			fmt.Sprintf("%d nodes, polling every %s h, %d of %d feeds each, for %s h where the attack says nothing "+
				"else", a.Nodes, hours(c.Every), c.Each, len(c.Feeds), hours(c.Length)),
			"Floods of queries (row 16) are left to `feedex lab query`, and what needs a real network is left out.",
		},
	}
	t := Table{Title: "Attacks", Columns: []string{"row and attack", "", "measured"}}
	var hashes []string
	ended := 0
	for _, row := range rows {
		verdict := "FAIL"
		switch {
		case row.Partial:
			verdict = "interrupted"
		case row.Pass:
			verdict = "pass"
		}
		if !row.Partial {
			ended++
		}
		t.row(fmt.Sprintf("%2d %s", row.Row, row.Name), verdict, row.Measured)
		hashes = append(hashes, row.Hash)
		r.Steps += row.Steps
	}
	r.Hash = hashOf(hashes)
	if ended < len(rows) {
		r.Partial = fmt.Sprintf("interrupted; %d of %d attacks came to their end, of the others nothing is known",
			ended, len(rows))
	}
	marks := Table{Title: "What was done, and the pass marks",
		Columns: []string{"row and attack", "what was done", "pass mark", "hash"}}
	for _, row := range rows {
		marks.row(fmt.Sprintf("%2d %s", row.Row, row.Name), row.Done, row.Mark, row.Hash)
	}
	r.Tables = []Table{t, marks}
	return r
}

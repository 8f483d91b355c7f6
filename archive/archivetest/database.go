package archivetest

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"feedex/feed"
	"feedex/reading"
)

// RunDatabase tests the archives that open makes, which must be empty, for what a host needs beside what Run,
// RunBlocks and RunRetention test. Open registers with t what is to be done at the end.
func RunDatabase(t *testing.T, open func(t testing.TB) reading.Database) {
	runItems(t, open)
	t.Run("passwords", func(t *testing.T) { testPasswords(t, open(t)) })
	t.Run("hub subscriptions", func(t *testing.T) { testHubSubscriptions(t, open(t)) })
	t.Run("channel version", func(t *testing.T) { testChannelVersion(t, open(t)) })
	t.Run("records", func(t *testing.T) { testRecords(t, open(t)) })
	t.Run("changed", func(t *testing.T) { testChanged(t, open(t)) })
	t.Run("following", func(t *testing.T) { testFollowing(t, open(t)) })
	t.Run("hours", func(t *testing.T) { testHours(t, open(t)) })
	t.Run("posts without titles", func(t *testing.T) { testLeads(t, open(t)) })
	t.Run("requests of a feed", func(t *testing.T) { testRequestsFor(t, open(t)) })
	t.Run("headlines", func(t *testing.T) { testHeadlines(t, open(t)) })
	t.Run("long headlines", func(t *testing.T) { testLongHeadlines(t, open(t)) })
	t.Run("headlines by time", func(t *testing.T) { testHeadlinesByTime(t, open(t)) })
	t.Run("feeds beside the loop", func(t *testing.T) { testFeedsBesideTheLoop(t, open(t)) })
	t.Run("icons", func(t *testing.T) { testIcons(t, open(t)) })
	t.Run("full texts", func(t *testing.T) { testFullTexts(t, open(t)) })
	t.Run("full texts that are due", func(t *testing.T) { testFullTextsDue(t, open(t)) })
	t.Run("full texts by rule", func(t *testing.T) { testFullTextRule(t, open(t)) })
	t.Run("reads end", func(t *testing.T) { testReadsEnd(t, open(t)) })
	t.Run("contents", func(t *testing.T) { testContents(t, open(t)) })
	t.Run("limits", func(t *testing.T) { testLimits(t, open(t)) })
	t.Run("limits are inherited", func(t *testing.T) { testInheritLimits(t, open(t)) })
	for name, test := range map[string]func(*testing.T, reading.Database){
		"filters catch": testFiltersCatch, "filters catch late": testFiltersCatchLate, "rules": testRules,
		"filters keep":        testFiltersKeep,
		"a filter comes back": testFilterComesBack,
		"rules on edits":      testRulesOnEdits, "rules on a first poll": testRulesOnFirstPoll,
		"filters": testFilterList,
		"labels":  testLabels, "names of labels": testLabelNames, "labels keep": testLabelsKeep,
		"rules label": testRulesLabel, "labels of rules keep nothing": testRulesLabelKeepNothing,
		"labels of the past":      testLabelsOfThePast,
		"labels of filters":       testLabelsOfFilters,
		"a feed is renamed whole": testRenameWhole,
		"standing queries":        testStandingQueries, "bounds of standing queries": testStandingBounds,
		"receivers are told": testReceiversAreTold, "receivers of people": testReceiversOfPeople,
		"receivers of stories": testReceiversOfStories, "receivers": testReceiverList, "commands": testCommands,
		"bounds of receivers": testReceiverBounds,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
	t.Run("housekeeping", func(t *testing.T) { testHousekeeping(t, open(t)) })
}

// RunBlocks tests that what a block names never changes, over random work: for some seconds.
func RunBlocks(t *testing.T, open func(t testing.TB) reading.Database) { testBlocks(t, open) }

// RunRetention tests what goes where an archive has limits, over random work: for some seconds.
func RunRetention(t *testing.T, open func(t testing.TB) reading.Database) {
	t.Run("over the limit of a feed", func(t *testing.T) { testOverTheLimitOfAFeed(t, open) })
	t.Run("age by a clock that was ahead", func(t *testing.T) { testAgeByAClockThatWasAhead(t, open(t)) })
	t.Run("hearsay", func(t *testing.T) { testHearsayOverTheLimit(t, open(t)) })
	t.Run("polled for others", func(t *testing.T) { testPolledForOthersOverTheLimit(t, open(t)) })
	t.Run("nothing shown goes", func(t *testing.T) { testNothingShownGoes(t, open) })
	t.Run("properties", func(t *testing.T) { testRetentionProperties(t, open) })
}

// A desk is an archive as one person has it.
type desk struct {
	reading.Database
	reading.Shelf
	reading.Pen
}

func deskOf(a reading.Database, p reading.PersonID) *desk { return &desk{a, a.Shelf(p), a.Pen(p)} }

// runItems tests what there is to read, how it is marked and how it is filed: for the owner, for another person, and
// for both beside each other.
func runItems(t *testing.T, open func(t testing.TB) reading.Database) {
	for name, test := range map[string]func(*testing.T, *desk){
		"items arrive":                    testItemsArrive,
		"items of a feed followed later":  testItemsOfAFeedThatIsFollowedLater,
		"items of a first poll":           testItemsOfAFirstPoll,
		"marks":                           testMarks,
		"what changed in a stream":        testStreamChanged,
		"streams without secrets":         testStreamWithoutSecrets,
		"pages":                           testPages,
		"many items":                      testManyItems,
		"items run nothing":               testItemsRunNothing,
		"find":                            testFind,
		"find in feeds":                   testFindInFeeds,
		"find ends":                       testFindEnds,
		"folders":                         testFolders,
		"title and folders are inherited": testInherit,
		"titles of lists":                 testListed,
		"a feed is renamed":               testRename,
		"too many folders":                testTooManyFolders,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, deskOf(open(t), reading.Owner))
		})
		t.Run("of another person/"+name, func(t *testing.T) {
			test(t, newHousehold(t, open(t)).other)
		})
	}
	for name, test := range map[string]func(*testing.T, *household){
		"marks are a person's":          testMarksOfTwo,
		"folders and titles are theirs": testFoldersOfTwo,
		"a new person":                  testNewPerson,
		"a feed is left out":            testLeaveOut,
		"a backlog is chosen":           testBacklogs,
		"a person is removed":           testRemovePerson,
		"what anybody starred stays":    testStarsOfTwo,
	} {
		t.Run(name, func(t *testing.T) { test(t, newHousehold(t, open(t))) })
	}
	t.Run("people", func(t *testing.T) { testPeople(t, open(t)) })
}

// A Verifier is an archive that can check itself. Run and its like have it do so.
type Verifier interface {
	Verify(ctx context.Context, progress func(entries int64), report func(problem string)) error
}

// wantSound has a Verifier check itself.
func wantSound(t rapid.TB, a any) {
	t.Helper()
	if d, ok := a.(*desk); ok {
		a = d.Database
	}
	v, ok := a.(Verifier)
	if !ok {
		return
	}
	err := v.Verify(context.Background(), func(int64) {}, func(problem string) { t.Errorf("verify: %s", problem) })
	if err != nil {
		t.Fatal(err)
	}
}

// otherNews is a feed beside news.
const otherNews feed.URL = "https://example.org/other"

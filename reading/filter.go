package reading

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedex/archive"
	"feedex/feed"
)

// A FilterID names a filter: from 1, never used again.
type FilterID int64

// A FilterWish is a filter as a person wants it.
type FilterWish struct {
	Name string `json:"name"`
	// Words are in the query language (feed.ParseMatch).
	Words  string `json:"words"`
	Folder string `json:"folder,omitempty"` // the name of the folder that it is filed in, "" for none
	Rule   Rule   `json:"rule,omitempty"`
	Label  string `json:"label,omitempty"` // the name of the label that RuleLabel gives, else ""
	// Standing has the node ask neighbors too, who are told the words. It is the owner's to say.
	Standing bool `json:"standing,omitempty"`
}

// Does is the rule with what it gives, "" for none.
func (w FilterWish) Does() string {
	if w.Rule == RuleLabel {
		return string(w.Rule) + " " + w.Label
	}
	return string(w.Rule)
}

// A NamedFilter is a search that a person keeps. It catches what arrives and fits, and what it caught is a feed, and a
// stream to programs.
type NamedFilter struct {
	FilterWish
	ID      FilterID
	Key     string    // by which its feed is had without a password, in hexadecimal digits
	Created time.Time // whole seconds
	Problem string    // why it catches nothing, "" where it does
}

// A CountedFilter is a filter with what it caught so far.
type CountedFilter struct {
	NamedFilter
	Caught int       // how many items it has
	Acted  int       // on how many of these its rule acted
	Latest time.Time // when it caught the last of them, zero for never
	// Of one that is or was a standing query: how many entries of feeds that nobody here follows it found, when
	// neighbors were asked last and are the next time, zero for never, and what went wrong the last time.
	Found       int
	Asked, Next time.Time
	Trouble     string
}

// A Rule is what follows for a person from what a filter of theirs catches.
type Rule string

// The rules. All but RuleKeep act once, on news, as they arrive. Of several rules of filters that catch the same item
// the first in the person's order acts, and the others do not; a filter without a rule and RuleKeep are no exception.
// RuleLabel acts beside them, each with its label: what it does is no mark, and nothing that the person did.
const (
	RuleNone Rule = ""     // it is in the filter's feed, and that is all
	RuleMute Rule = "mute" // it is no news: neither listed nor unread
	RuleRead Rule = "read" // it is read
	RuleStar Rule = "star" // it is starred
	RuleFull Rule = "full" // its full text is fetched, within the bounds of those that are fetched unasked
	// RuleLabel gives it a label, which keeps nothing from being purged.
	RuleLabel Rule = "label"
	RuleKeep  Rule = "keep" // it is purged for nobody as long as the filter has it and it is confirmed
)

// Rules are all rules that have a name.
func Rules() []Rule { return []Rule{RuleMute, RuleRead, RuleStar, RuleFull, RuleLabel, RuleKeep} }

// Acts reports whether a rule changes something of what is caught, which can be taken back.
func (r Rule) Acts() bool { return r != RuleNone && r != RuleKeep }

// Would says what a rule would do to so many entries.
func (r Rule) Would(n int) string {
	entries := fmt.Sprintf("%d entries", n)
	if n == 1 {
		entries = "1 entry"
	}
	switch r {
	case RuleMute:
		return "mute " + entries
	case RuleRead:
		return "mark " + entries + " read"
	case RuleStar:
		return "star " + entries
	case RuleFull:
		return "ask for the full text of " + entries
	case RuleLabel:
		return "label " + entries
	case RuleKeep:
		return "keep " + entries
	}
	return "change nothing"
}

const (
	// MaxFilters is how many filters a person may have.
	MaxFilters = 1000
	// MaxCaught is how many of the past a filter catches when it is made, the latest.
	MaxCaught = 1000
	// maxFilterName is how long the name of a filter may be, in bytes.
	maxFilterName = 100
)

// Why a filter is not kept or found. No filter, folder or label of a person has the name of another: ErrFilterName is
// wrapped by what says which has it.
var (
	ErrFilterName = errors.New("choose another name")
	ErrFilters    = fmt.Errorf("there are %d filters already: remove some", MaxFilters)
	ErrNoFilter   = errors.New("there is no such filter")
	ErrWords      = errors.New("the words of a filter cannot be read")
	ErrRule       = errors.New("not a rule")
	// ErrOwnersRule is why nobody else has RuleFull: the node's requests are the owner's to allow, and a full text is
	// shown to all of its people.
	ErrOwnersRule = fmt.Errorf("%w of other people: full texts are fetched unasked for the owner alone", ErrRule)
)

// TakenBy is an ErrFilterName that says what has a name.
func TakenBy(what, name string) error {
	return fmt.Errorf("there is a %s named %q: %w", what, name, ErrFilterName)
}

// Checked is the wish with its names as they are kept, and what its words ask for. The error wraps ErrName, ErrRule,
// ErrFilterName, ErrStanding or, with the *feed.MatchError that says where, ErrWords.
func (w FilterWish) Checked() (FilterWish, feed.Match, error) {
	name := nameOf(w.Name)
	if name == "" || len(name) > maxFilterName {
		return w, feed.Match{}, fmt.Errorf("%w for a filter: %.40q: want one line of 1 to %d bytes", ErrName, w.Name,
			maxFilterName)
	}
	w.Name = name
	if w.Folder != "" {
		folder, err := FolderName(w.Folder)
		if err != nil {
			return w, feed.Match{}, err
		}
		w.Folder = folder
	}
	switch w.Rule {
	case RuleNone, RuleMute, RuleRead, RuleStar, RuleFull, RuleLabel, RuleKeep:
	default:
		return w, feed.Match{}, fmt.Errorf("%w: %.40q: want one of mute, read, star, full, label, keep", ErrRule,
			w.Rule)
	}
	if w.Rule == RuleLabel && w.Label == "" {
		return w, feed.Match{}, fmt.Errorf("%w without the name of the label that it gives: %q", ErrRule, w.Rule)
	}
	if w.Rule == RuleLabel {
		label, err := LabelName(w.Label)
		if err != nil {
			return w, feed.Match{}, err
		}
		w.Label = label
	} else if w.Label != "" {
		return w, feed.Match{}, fmt.Errorf("%w that gives a label: %.40q: want label", ErrRule, w.Rule)
	}
	if w.Folder == name || w.Label == name || w.Label != "" && w.Label == w.Folder {
		return w, feed.Match{}, fmt.Errorf("a filter, its folder and its label have different names: %w",
			ErrFilterName)
	}
	m, err := feed.ParseMatch(w.Words)
	if err != nil {
		return w, m, fmt.Errorf("%w: %w", ErrWords, err)
	}
	if archive.NewMatcher(feed.Filter{Match: m}).Wordless() {
		return w, m, fmt.Errorf("%w: they ask for nothing", ErrWords)
	}
	if w.Standing {
		return w, m, askable(m)
	}
	return w, m, nil
}

// Filters keeps the filters of a person.
type Filters interface {
	// AddFilter keeps a filter behind the person's others. What arrives from then on it catches; what came before is
	// for Catch. The error is ErrFilterName, ErrFilters, ErrOwnersRule or one that wraps ErrStanding, or ErrFolders or
	// ErrLabels where there is no room for its folder or label; nothing is changed then. The wish is such as Checked
	// makes.
	AddFilter(at time.Time, w FilterWish) (FilterID, error)
	// KeepFilterAgain has a filter back that was removed and not swept away, in the place of another, which is removed,
	// or where it was if that is 0. It has what it had caught, with what its rule did; what came meanwhile is for
	// Catch. Errors as with AddFilter, or ErrNoFilter.
	KeepFilterAgain(at time.Time, id, instead FilterID) error
	// ChangeFilter puts another filter into the place of one, with its key. Where it has other words it is a new one,
	// with another ID, which has caught nothing yet, and the old one is removed. Errors as with AddFilter, or
	// ErrNoFilter.
	ChangeFilter(at time.Time, id FilterID, w FilterWish) (FilterID, error)
	// MoveFilter has a filter be before another in the person's order, or behind all others where that is 0.
	MoveFilter(id, before FilterID)
	// RemoveFilter removes a filter and reports whether there was one. What it caught is there until Sweep takes it.
	// Until then what its rule did can be taken back, and what it keeps is kept.
	RemoveFilter(at time.Time, id FilterID) bool
	// Catch notes that a filter has caught items of the past, on which no rule acts.
	Catch(at time.Time, id FilterID, items []ItemID)
	// CaughtUp notes that the past was gone through for a filter.
	CaughtUp(id FilterID)
	// FolderTaken is nil where a folder may have that name, or an ErrFilterName that says whether a filter or a label
	// has it.
	FolderTaken(name string) error
	// Act has the rule of a filter act on items that it has caught and on which none acted yet, or for RuleLabel this
	// one, and returns on how many it did. It mutes none that is read, which would be unread once that is taken back,
	// asks for the full text of none that came or was published too long ago for that, and labels none that has the
	// label.
	Act(at time.Time, id FilterID, items []ItemID) int
	// TakeBack reverses what the rule of a filter did at a moment, or ever where that is zero, where nothing was marked
	// since, to at most limit items, and reports whether there are more. A full text stays, and is not shown any more,
	// unless they are wanted of all that its feed publishes; a label goes unless the person gave it as well.
	TakeBack(at time.Time, id FilterID, moment time.Time, limit int) (more bool)
}

// FilterSweeper removes what filters have left that are gone.
type FilterSweeper interface {
	// Sweep forgets at most limit items that filters caught which were removed then or before, or more than RemovedFor
	// after that, and reports whether there are more.
	Sweep(upTo time.Time, limit int) (more bool)
}

// A FilterList reads what Filters keeps.
type FilterList interface {
	// Filters are the person's filters, in their order.
	Filters(ctx context.Context) ([]NamedFilter, error)
	// RemovedFilters are those that were removed and not swept away, the last one first.
	RemovedFilters(ctx context.Context) ([]NamedFilter, error)
	// CountedFilters are Filters with what they caught, which takes the longer the more that is.
	CountedFilters(ctx context.Context) ([]CountedFilter, error)
	// FilterCounts are the filters with items that are unread, ordered by ID.
	FilterCounts(ctx context.Context) ([]UnreadCount[FilterID], error)
	// RulesOn says on how many of these items each rule would act (Filters.Act) if a filter had caught them, and gave a
	// label that none of them has.
	RulesOn(ctx context.Context, at time.Time, items []ItemID) (map[Rule]int, error)
	// CaughtBy are the latest items that a filter has, up to one and with it, or of all where that is 0: the latest
	// first, of feeds that the person reads, those whose URL is a secret only where that is asked for. Among them is
	// what it found as a standing query, by when that was.
	CaughtBy(ctx context.Context, id FilterID, upTo ItemID, secret bool, limit int) ([]CaughtItem, error)
}

// A CaughtItem is an item that a filter caught.
type CaughtItem struct {
	Item    ItemID    // 0 where a standing query found it
	Seq     int64     // of its entry
	Feed    feed.URL  // of which it is
	Title   string    // that of the feed, as published
	Changed int64     // counts the changes of its feed up to the last one of its entry
	At      time.Time // when it was caught
	Did     Rule      // what the filter's rule did, RuleNone for nothing
}

// A Keyed filter is that of a person.
type Keyed struct {
	Person PersonID
	Filter FilterID
	Name   string
}

// FilterKeys finds filters of all people.
type FilterKeys interface {
	// FilterOf is the filter with a key, the zero Keyed for none.
	FilterOf(ctx context.Context, key string) (Keyed, error)
	// Behind are the filters for which the past was not gone through yet, as they were when their process ended.
	Behind(ctx context.Context) ([]Keyed, error)
}

// FilterNamed is the filter of a name. The error wraps ErrNoFilter where there is none.
func FilterNamed(list []NamedFilter, name string) (NamedFilter, error) {
	name = nameOf(name)
	for _, f := range list {
		if nameOf(f.Name) == name {
			return f, nil
		}
	}
	return NamedFilter{}, fmt.Errorf("%w: %.40q; see 'feedex filter list'", ErrNoFilter, name)
}

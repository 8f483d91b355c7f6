package reading

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"feedex/feed"
	"feedex/safehtml"
)

// A FollowedFeed is a feed that the node follows, as one person has it.
type FollowedFeed struct {
	ID      FeedID
	URL     feed.URL
	Name    string // the person's own title for it, "" for none
	Title   string // the publisher's, as a label (safehtml.Label); "" before it is known
	Site    string // the page that it belongs to, "" before it is known
	Icon    IconRef
	Folders []Folder
	Unread  int // items of it that are unread
	// Polls and Neighbors are how many entries each brought first, for as long as the node followed the feed in all.
	Polls, Neighbors int64
	Since            time.Time // when it was subscribed to, zero where it is not known
	Errors           int       // failed polls in a row
	Error            string    // why the last one failed, as a label, "" after a success
	Choose           bool      // a web page is there instead, which names feeds to choose from
	Polled           time.Time // the last poll, zero before the first
	// FullText says that the full text of what it publishes is fetched.
	FullText bool
}

// A FeedTitle is what a person calls a feed: by a title of their own or else by the publisher's, "" before that is
// known.
type FeedTitle struct {
	Feed FeedID
	Text string
	Icon IconRef
}

// An Unfollowed feed is one that a program of a person unfollowed, and that they do not read since.
type Unfollowed struct {
	Feed  FeedID
	URL   feed.URL
	Title string    // the person's own for it, or the publisher's as a label; "" for none
	By    string    // name of the password by which the program came in
	At    time.Time // whole seconds
}

// A FolderID names a folder: from 1, never used again.
type FolderID int64

// A Folder holds feeds, which may be in several.
type Folder struct {
	ID   FolderID
	Name string
}

// An UnreadCount is how many items of a feed are unread, or of those that have a label, or that a filter caught.
type UnreadCount[ID ~int64] struct {
	Of     ID
	Unread int
	Newest time.Time // when the latest of them arrived
}

// An Arrangement is how a feed is to be titled and filed. Fields that it leaves out stay as they are.
type Arrangement struct {
	Feed FeedID   `json:"feed,omitempty"` // 0 where URL names it
	URL  feed.URL `json:"url,omitempty"`
	Name *string  `json:"name,omitempty"` // its title to the person, "" for the publisher's
	// Listed is the title that a list has for it, "" for none: that to the person unless they gave it one.
	Listed string   `json:"listed,omitempty"`
	Into   []string `json:"into,omitempty"` // names of folders, made where there are none
	Out    []string `json:"out,omitempty"`  // names of folders
	// Pictures says whether the pictures of its entries are shown without asking.
	Pictures *bool `json:"pictures,omitempty"`
	// FullText says whether the full text of what it publishes is fetched, for all people; the owner says that alone.
	FullText *bool `json:"full_text,omitempty"`
}

// Checked is a list with its names as they are kept. The error wraps ErrName.
func Checked(list []Arrangement) ([]Arrangement, error) {
	list = slices.Clone(list)
	for i := range list {
		a := &list[i]
		if a.Name != nil {
			name := cut(nameOf(*a.Name))
			a.Name = &name
		}
		a.Listed = cut(nameOf(a.Listed))
		a.Into = slices.Clone(a.Into)
		for j, raw := range a.Into {
			name, err := FolderName(raw)
			if err != nil {
				return nil, err
			}
			a.Into[j] = name
		}
		out := slices.Clone(a.Out)
		for _, raw := range a.Out { // which may be kept as it was typed there, or not
			out = append(out, nameOf(raw))
		}
		a.Out = out
	}
	return list, nil
}

const (
	// MaxFolders is how many folders there may be.
	MaxFolders = 1000
	// MaxName is how long the name of a folder, a label or a feed may be, in bytes.
	MaxName = 300
)

// inside stands between the names of folders inside one another, which here are one: readers have one level of them.
// It holds no slash, because their folders' identifiers do.
const inside = " › "

// FolderOf is the one folder that stands for a path of them, "" for none.
func FolderOf(path []string) string {
	var names []string
	for _, name := range path {
		if name = nameOf(name); name != "" {
			names = append(names, name)
		}
	}
	folder := cut(strings.Join(names, inside))
	if nameOf(folder) != folder { // it ends in what would be another name once more
		folder = strings.TrimRight(folder, "<& ")
	}
	return folder
}

// PathOf is the path that a folder stands for.
func PathOf(folder string) []string { return strings.Split(folder, inside) }

// The refusals of Arrange and its like.
var (
	ErrName    = errors.New("not a name")
	ErrFolders = fmt.Errorf("there are %d folders already: remove some", MaxFolders)
)

// The refusals of Subscribe and Discover.
var (
	ErrNoFeed = errors.New("there is no feed")
	ErrUnread = errors.New("the address could not be read")
)

// FolderName is a name of a folder as it is kept: one line of text.
func FolderName(raw string) (string, error) { return lineNamed("a folder", raw) }

// lineNamed is a name of what it is for as it is kept. The error wraps ErrName.
func lineNamed(what, raw string) (string, error) {
	name := nameOf(raw)
	if name == "" || len(name) > MaxName {
		return "", fmt.Errorf("%w for %s: %.40q: want one line of 1 to %d bytes", ErrName, what, raw, MaxName)
	}
	return name, nil
}

// nameOf is a name as it is kept: one line in which no reader finds markup, so that it is the same in all of them.
// Lists of feeds come from strangers too, and what a reader was told is the name of a folder it says when it means the
// folder. What looks the same is the same: accents are written in one way, and spaces of no width in none.
func nameOf(raw string) string {
	raw = strings.NewReplacer("\u200b", "", "\ufeff", "").Replace(raw)
	return safehtml.Inert(safehtml.Line(norm.NFC.String(raw)))
}

// cut is s without what is more than a name may be long.
func cut(s string) string {
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), MaxName)], ""))
}

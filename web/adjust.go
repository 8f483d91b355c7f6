package web

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedex/archive"
	"feedex/internal/when"
	"feedex/neighbors"
	"feedex/node"
	"feedex/polling"
	"feedex/reading"
)

// feedForm is all that the owner chooses for one feed, and others in part, as the form on its page has it: texts, as
// they were typed.
type feedForm struct {
	Name, Folders     string // one folder a line
	Private, Discreet checkbox
	FullText          checkbox
	Sharing, Shared   string   // what it is to be, and what it was when the page was made
	Pictures          checkbox // for the person alone
	Weight            string
	Policy, Value     string // by which it is polled, "" for the node's own, and what that takes behind a colon
	Age, Count, Size  string // of what is kept: days, entries, megabytes of text; "" for all
	Wrong             feedProblems
}

// A checkbox changes something only where somebody changed it: what a page shows that was loaded a while ago may not
// hold any more, and a box that it did not have says nothing.
type checkbox struct {
	On    bool
	Shown string // as it was when the page was made: "on" or "off", "" where there was none
}

// checkboxOf is a box as it stands.
func checkboxOf(on bool) checkbox {
	if on {
		return checkbox{true, "on"}
	}
	return checkbox{false, "off"}
}

// wish is what the owner wants, nil where it is what holds already, or was not said.
func (c *checkbox) wish(holds bool) *bool {
	if c.Shown == "" || c.On == (c.Shown == "on") || c.On == holds {
		return nil
	}
	return &c.On
}

// feedProblems are what is wrong with the fields of a feedForm, "" for nothing.
type feedProblems struct{ Folders, Private, Discreet, Sharing, Weight, Value, Age, Count, Size string }

// A badForm is the error that shows a form again, with what was typed and what is wrong with it.
type badForm struct {
	again func() (view, error)
}

func (badForm) Error() string { return "a field of the form holds what it cannot" }

// A partly is an error after which a part of what was wanted is done.
type partly struct {
	done string // and what is not
	err  error
}

func (p partly) Error() string { return p.err.Error() }
func (p partly) Unwrap() error { return p.err }

// personsForm is what of the form each person chooses for themselves, as it is.
func personsForm(k *KnownFeed) feedForm {
	return feedForm{Name: k.Name, Folders: strings.Join(k.Folders, "\n"), Pictures: checkboxOf(k.Look.Pictures)}
}

// newFeedForm is the form of a feed as it is.
func newFeedForm(k *FeedDetail) feedForm {
	f := personsForm(&k.KnownFeed)
	f.Private, f.Discreet = checkboxOf(k.Withheld), checkboxOf(k.Discreet)
	f.Sharing, f.FullText = k.Sharing.String(), checkboxOf(k.Look.FullText)
	f.Shared = f.Sharing
	f.Weight = strconv.Itoa(max(1, k.Weight))
	f.Age, f.Count = fraction(k.Limits.Age.Hours()/24), zeroless(k.Limits.Count)
	f.Size = fraction(float64(k.Limits.Bytes) / bytesPerMB)
	f.Policy, f.Value, _ = strings.Cut(k.Policy, ":")
	if d, err := time.ParseDuration(f.Value); err == nil {
		f.Value = when.Text(d)
	}
	return f
}

// readFeedForm is the form as a browser sent it.
func readFeedForm(r *http.Request) feedForm {
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	box := func(name string) checkbox { return checkbox{field(name) != "", field(name + "-shown")} }
	return feedForm{Name: r.PostFormValue("name"), Folders: r.PostFormValue("folders"),
		Private: box("private"), Discreet: box("discreet"), FullText: box("fulltext"),
		Sharing: field("sharing"), Shared: field("sharing-shown"),
		Pictures: box("pictures"), Weight: field("weight"),
		Policy: field("policy"), Value: field("value"), Age: field("age"), Count: field("count"), Size: field("size")}
}

// Policies are the names of polling policies.
func (f *feedForm) Policies() []string { return polling.Names() }

// A sharingOption is what may be shared.
type sharingOption struct{ Value, Name string }

// Sharings are what may be shared of the feed.
func (f *feedForm) Sharings() []sharingOption {
	return []sharingOption{{archive.SharesNothing.String(), "nothing"}, {archive.SharesStars.String(), "my stars"},
		{archive.SharesLabels.String(), "my stars and labels"}}
}

// Bad reports whether something is wrong with the form.
func (f *feedForm) Bad() bool { return f.Wrong != (feedProblems{}) }

// adjust has a feed followed as its form says.
func (h *Handler) adjust(_ http.ResponseWriter, r *http.Request) (string, error) {
	ctx := r.Context()
	number, err := feedOf(r)
	if err != nil {
		return "", err
	}
	known, err := h.Source.Feed(ctx, number)
	if err != nil {
		return "", err
	}
	if !known.Subscribed {
		return "", clientError{http.StatusConflict, "This feed is not followed",
			"It was unfollowed since the form was shown. Follow it again to set how. Nothing was changed."}
	}
	f := readFeedForm(r)
	arrange := f.arrangement(&known.KnownFeed)
	wish := f.wish(&known, loggedIn(ctx))
	keep := f.limits()
	if err := h.file(ctx, &f, arrange); err != nil {
		return "", err
	}
	if f.Bad() {
		return "", badForm{func() (view, error) { return h.feedView(r, number, &f) }}
	}
	if wish.Weight != 0 || wish.Discreet != nil || wish.Policy != nil || wish.Private != nil ||
		wish.Sharing != nil {
		if err := h.Source.Adjust(ctx, number, wish); err != nil {
			return "", partly{"Its title and folders are saved; how it is followed and how much is kept are not", err}
		}
	}
	if keep != known.Limits {
		if err := h.Source.Keep(ctx, number, keep); err != nil {
			return "", partly{"Its title, its folders and how it is followed are saved; how much is kept is not", err}
		}
	}
	return pathOfFeed(number) + "?done=saved", nil
}

// file titles and files a feed as its form says, unless something is wrong with that: folders may be.
func (h *desk) file(ctx context.Context, f *feedForm, a reading.Arrangement) error {
	if f.Bad() {
		return nil
	}
	err := h.Shelf.Arrange(ctx, a)
	if errors.Is(err, reading.ErrFolders) || errors.Is(err, reading.ErrFilterName) {
		f.Wrong.Folders, err = sentence(err.Error()), nil
	}
	return err
}

// arrangement is how the form titles and files the feed.
func (f *feedForm) arrangement(k *KnownFeed) reading.Arrangement {
	a := reading.Arrangement{Feed: reading.FeedID(k.Number), Name: &f.Name,
		FullText: f.FullText.wish(k.Look.FullText), Pictures: f.Pictures.wish(k.Look.Pictures)}
	var wanted []string
	for line := range strings.Lines(f.Folders) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if _, err := reading.FolderName(line); err != nil {
			f.Wrong.Folders = sentence(err.Error())
		}
		wanted = append(wanted, line)
	}
	for _, folder := range k.Folders {
		if !slices.Contains(wanted, folder) {
			a.Out = append(a.Out, folder)
		}
	}
	for _, folder := range wanted {
		if !slices.Contains(k.Folders, folder) {
			a.Into = append(a.Into, folder)
		}
	}
	return a
}

// wish is what the form changes of how the feed is followed. A browser that has not logged in tells neighbors nothing
// that they were not to know: it may be a secret that it does not see itself.
func (f *feedForm) wish(k *FeedDetail, loggedIn bool) (s node.Subscribe) {
	const log = "Log in first: what neighbors were not to know is told to them by somebody who has logged in."
	if s.Private = f.Private.wish(k.Withheld); s.Private != nil && !decidable(k) {
		s.Private = nil
	} else if s.Private != nil && !*s.Private && !loggedIn {
		f.Wrong.Private = log
	}
	if s.Discreet = f.Discreet.wish(k.Discreet); s.Discreet != nil && !*s.Discreet && !loggedIn {
		f.Wrong.Discreet = log
	}
	sharing, err := archive.ParseSharing(f.Sharing)
	if err == nil && f.Shared != "" && f.Sharing != f.Shared && sharing != k.Sharing {
		if s.Sharing = &sharing; sharing > k.Sharing && !loggedIn {
			f.Wrong.Sharing = log
		}
	}
	weight, err := strconv.Atoi(cmp.Or(f.Weight, "1"))
	if err != nil || weight < 1 || weight > neighbors.MaxWeight {
		f.Wrong.Weight = "This is a whole number from 1 to 100."
	} else if weight != max(1, k.Weight) {
		s.Weight = weight
	}
	policy := f.Policy
	if f.Value != "" {
		value := f.Value
		if d, err := when.Span(value); err == nil && policy != "feedex" {
			value = when.Clock(d)
		}
		policy += ":" + value
	}
	switch _, err := (polling.Settings{}).Policy(policy); {
	case f.Policy == "" && f.Value != "":
		f.Wrong.Value = "Choose a policy that takes it, or leave this empty."
	case policy != "" && err != nil:
		f.Wrong.Value = sentence(err.Error())
	case newFeedForm(k).Policy != f.Policy || newFeedForm(k).Value != f.Value:
		s.Policy = &policy
	}
	return s
}

const bytesPerMB = 1e6

// limits are how much the form has the node keep of the feed.
func (f *feedForm) limits() (l archive.Limits) {
	days, ok := positive(f.Age)
	if age := days * 24 * float64(time.Hour); !ok || age >= math.MaxInt64 || age > 0 && age < float64(time.Second) {
		f.Wrong.Age = "This is a number of days above 0, such as 90, or empty."
	} else {
		l.Age = time.Duration(age).Round(time.Second)
	}
	if f.Count != "" {
		n, err := strconv.ParseInt(f.Count, 10, 64)
		if l.Count = n; err != nil || n < 1 {
			f.Wrong.Count = "This is a whole number from 1 on, or empty."
		}
	}
	megabytes, ok := positive(f.Size)
	if size := megabytes * bytesPerMB; !ok || size >= math.MaxInt64/2 || size > 0 && size < 1 {
		f.Wrong.Size = "This is a number of megabytes above 0, such as 100, or empty."
	} else {
		l.Bytes = int64(math.Round(size))
	}
	return l
}

// positive reads a number above 0, and 0 of the empty text.
func positive(s string) (float64, bool) {
	if s == "" {
		return 0, true
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && x > 0 // which no NaN is
}

// fraction writes a number as positive reads it, "" for 0.
func fraction(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// share says whether neighbors may know of a feed. A browser that may not see a secret cannot give it away either.
func (h *Handler) share(_ http.ResponseWriter, r *http.Request) (string, error) {
	number, err := feedOf(r)
	if err != nil {
		return "", err
	}
	private := r.PostFormValue("as") != "shared"
	if !private && !loggedIn(r.Context()) {
		return "", clientError{http.StatusForbidden, "Log in first",
			"What may be a secret is told to neighbors by somebody who has logged in. Nothing was changed."}
	}
	return pathOfFeed(number),
		h.Source.Adjust(r.Context(), number, node.Subscribe{Private: &private})
}

// decidable reports whether the owner may say something else about what neighbors know of the feed than holds now, and
// has said something, or need not.
func decidable(k *FeedDetail) bool {
	return k.Status != nil && !k.Status.Undecided && (k.Status.Kept == "" || k.Withheld)
}

package reading

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A LabelID names a label: from 1, never used again.
type LabelID int64

// A Label is a name that a person gives to entries.
type Label struct {
	ID   LabelID
	Name string
}

const (
	// MaxLabels is how many labels a person may have.
	MaxLabels = MaxFolders
	// MaxEntryLabels is how many labels of a person an entry may have.
	MaxEntryLabels = 100
)

// Why a label is not given or renamed.
var (
	ErrLabels      = fmt.Errorf("there are %d labels already: remove some", MaxLabels)
	ErrEntryLabels = fmt.Errorf("an entry has %d labels already: take some away", MaxEntryLabels)
	ErrLabelName   = errors.New("there is a label of that name: choose another name")
)

// LabelName is a name of a label as it is kept: one line of text.
func LabelName(raw string) (string, error) { return lineNamed("a label", raw) }

// Labels keeps the labels of a person. Names are such as LabelName makes.
type Labels interface {
	// Label gives items the label of a name, which is made where there is none, or takes it from them. It is a mark:
	// readers learn of it as of a star, and what was given a label so is purged for nobody. Items of which there is
	// none do not matter. The error is ErrFilterName, ErrLabels or ErrEntryLabels; nothing is changed then.
	Label(at time.Time, ids []ItemID, name string, has bool) error
	// RenameLabel gives a label another name; it is no error if there is no such label. The error is ErrFilterName or
	// ErrLabelName.
	RenameLabel(id LabelID, name string) error
	// RemoveLabel takes a label from at most limit items, and is done with it where it reports false. A filter that
	// gave it has no rule any more.
	RemoveLabel(at time.Time, id LabelID, limit int) (more bool)
}

// A LabelList reads what Labels keeps.
type LabelList interface {
	// Labels are the person's labels, ordered by name.
	Labels(ctx context.Context) ([]Label, error)
	// LabelCounts are the labels with items that are unread, ordered by ID.
	LabelCounts(ctx context.Context) ([]UnreadCount[LabelID], error)
	// LabelsOn are the labels of items, ordered by name.
	LabelsOn(ctx context.Context, ids []ItemID) (map[ItemID][]Label, error)
}

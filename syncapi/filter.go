package syncapi

import (
	"context"

	"feedex/reading"
)

// firstFilter is above the number of any folder: from there on those are that stand for filters. Readers hold them in
// 31 bits.
const firstFilter = 1 << 30

// FolderOf is the number of the folder that stands for a filter.
func FolderOf(id reading.FilterID) reading.FolderID { return firstFilter + reading.FolderID(id) }

// FilterOf is the filter for which a folder stands, 0 for none.
func FilterOf(id reading.FolderID) reading.FilterID {
	if id <= firstFilter || id == 1<<31-1 {
		return 0
	}
	return reading.FilterID(id - firstFilter)
}

// FilterFolders are folders that stand for the filters of a person. No feed is in them.
func FilterFolders(ctx context.Context, l reading.Library) (list []reading.Folder, err error) {
	filters, err := l.Filters(ctx)
	for _, f := range filters {
		list = append(list, reading.Folder{ID: FolderOf(f.ID), Name: f.Name})
	}
	return list, err
}

// Caught is the stream like s of what a filter caught, what is not listed too.
func Caught(id reading.FilterID, s reading.Stream) reading.Stream {
	s.Filter, s.Unlisted = id, true
	return s
}

// Labelled is the stream like s of what has a label, what is not listed too.
func Labelled(id reading.LabelID, s reading.Stream) reading.Stream {
	s.Label, s.Unlisted = id, true
	return s
}

// FilterFixed refuses a change of a folder that stands for a filter.
const FilterFixed = "This is a filter: it is changed on the pages of the node, or by 'feedex filter'."

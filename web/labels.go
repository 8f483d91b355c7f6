package web

import (
	"cmp"
	"context"
	"net/http"

	"feedex/reading"
)

// A labelLink is a label of an entry, and where those that have it are listed.
type labelLink struct{ Path, Name string }

// labelPath is where the entries with a label are listed.
func labelPath(id reading.LabelID) string { return listing{Show: labelled, Label: id}.Path() }

// labelsOn are the labels of items, ordered by name.
func (h *desk) labelsOn(ctx context.Context, ids ...reading.ItemID) (map[reading.ItemID][]labelLink, error) {
	found, err := h.Shelf.LabelsOn(ctx, ids)
	labels := make(map[reading.ItemID][]labelLink, len(found))
	for id, list := range found {
		for _, l := range list {
			labels[id] = append(labels[id], labelLink{labelPath(l.ID), l.Name})
		}
	}
	return labels, err
}

// addLabels adds to entries of a list which labels they have.
func (h *desk) addLabels(ctx context.Context, lines []headline) error {
	var ids []reading.ItemID
	for i := range lines {
		if id := lines[i].Item.ID; id != 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	labels, err := h.labelsOn(ctx, ids...)
	for i := range lines {
		lines[i].Labels = labels[lines[i].Item.ID]
	}
	return err
}

// entryLabels are the labels of an entry, and the names of all that there are, for its page.
type entryLabels struct {
	Labels []labelLink
	Known  []string
}

func (h *desk) entryLabels(ctx context.Context, item reading.ItemID) (e entryLabels, err error) {
	if item == 0 {
		return e, nil
	}
	on, err := h.labelsOn(ctx, item)
	all, err2 := h.Shelf.Labels(ctx)
	for _, l := range all {
		e.Known = append(e.Known, l.Name)
	}
	e.Labels = on[item]
	return e, cmp.Or(err, err2)
}

// label gives an entry a label, or takes it away, as the button says that was pressed.
func (h *desk) label(_ http.ResponseWriter, r *http.Request) (string, error) {
	item, err := h.itemOf(r)
	if err != nil {
		return "", err
	}
	err = h.Shelf.Label(r.Context(), []reading.ItemID{item}, r.PostFormValue("label"), r.PostFormValue("as") != "taken")
	return local(r.PostFormValue("next")), mendable(err, "The label is not given", reading.ErrName,
		reading.ErrFilterName, reading.ErrLabels, reading.ErrEntryLabels)
}

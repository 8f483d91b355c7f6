package daemon

import (
	"testing"

	"feedex/reading"
)

// What a program labels is on the disk when it has its answer, in steps for many, and a label goes as a whole.
func TestLabelsAreKept(t *testing.T) {
	l := newLibrary(t)
	if _, err := l.Subscribe(t.Context(), exampleFeed); err != nil {
		t.Fatal(err)
	}
	const all = markStep + 1
	l.arrive(exampleFeed, all)
	var ids []reading.ItemID
	for id := range reading.ItemID(all) {
		ids = append(ids, id+1)
	}
	if err := l.Label(t.Context(), ids, " a  recipe ", true); err != nil {
		t.Fatal(err)
	}
	l = l.reopen()
	labels, err := l.Labels(t.Context())
	if err != nil || len(labels) != 1 || labels[0].Name != "a recipe" {
		t.Fatalf("labels: %+v, %v", labels, err)
	}
	stream := reading.Stream{Label: labels[0].ID, Unlisted: true}
	l.wantSize("a label", stream, all)
	if err := l.RenameLabel(t.Context(), labels[0].ID, "food"); err != nil {
		t.Error(err)
	}
	if _, err := l.AddFolder(t.Context(), "food"); err == nil {
		t.Error("a folder has the name of a label")
	}
	if err := l.RemoveLabel(t.Context(), labels[0].ID); err != nil {
		t.Error(err)
	}
	l = l.reopen()
	l.wantSize("a label that was removed", stream, 0)
	if labels, err := l.Labels(t.Context()); err != nil || len(labels) != 0 {
		t.Errorf("labels at the end: %+v, %v", labels, err)
	}
}

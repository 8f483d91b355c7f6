package reading_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"feedex/reading"
)

// A list of filters is gone through before one is added: what is wrong with any of it, named, or which are to be added.
func TestAddingAList(t *testing.T) {
	wish := func(name string) reading.FilterWish { return reading.FilterWish{Name: name, Words: "x"} }
	labels := func(name, label string) reading.FilterWish {
		return reading.FilterWish{Name: name, Words: "x", Rule: reading.RuleLabel, Label: label}
	}
	in := func(name, folder string) reading.FilterWish {
		return reading.FilterWish{Name: name, Words: "x", Folder: folder}
	}
	stands, full := wish("S"), wish("F")
	stands.Standing, full.Rule = true, reading.RuleFull
	has := reading.Names{
		Filters: []reading.NamedFilter{{FilterWish: wish("Storms")}, {FilterWish: in("Ports", "Work")}},
		Folders: []reading.Folder{{Name: "Work"}}, Labels: []reading.Label{{Name: "ports"}}}
	other := wish("Storms")
	other.Words = "y"
	for _, c := range []struct {
		p    reading.PersonID
		list []reading.FilterWish
		want string
	}{
		{reading.Owner, []reading.FilterWish{wish("A"), wish("Work")},
			`filter "Work": there is a folder named "Work": choose another name`},
		{reading.Owner, []reading.FilterWish{wish("ports")}, `filter "ports": there is a label named "ports": choose`},
		{reading.Owner, []reading.FilterWish{wish("A"), other, wish("A")}, `two filters of the list are named "A"`},
		{reading.Owner, []reading.FilterWish{other, other}, `two filters of the list are named "Storms"`},
		{reading.Owner, []reading.FilterWish{in("A", "Storms")},
			`folder of filter "A": there is a filter named "Storms": choose another name`},
		{reading.Owner, []reading.FilterWish{in("A", "ports")}, `folder of filter "A": there is a label named "ports"`},
		{reading.Owner, []reading.FilterWish{in("A", "A")}, `folder of filter "A": there is a filter named "A"`},
		{reading.Owner, []reading.FilterWish{labels("A", "Work")},
			`label of filter "A": there is a folder named "Work"`},
		{reading.Owner, []reading.FilterWish{in("A", "B"), wish("B")}, `filter "B": there is a folder named "B"`},
		{reading.Owner, []reading.FilterWish{labels("A", "B"), in("C", "B")}, `folder of filter "C": there is a label`},
		{2, []reading.FilterWish{stands}, `filter "S": `},
		{2, []reading.FilterWish{full}, `filter "F": ` + reading.ErrOwnersRule.Error()},
	} {
		if add, others, err := has.Adding(c.p, c.list); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: add %+v, others %+v, %v, want %s", c.list, add, others, err, c.want)
		}
	}
	there := in("Ports", "Work")
	there.Standing = true // which is to be told by another command
	list := []reading.FilterWish{in("A", "Work"), other, there, labels("B", "ports"), in("C", "New"),
		labels("D", "own"), labels("E", "own"), full, stands}
	add, others, err := has.Adding(reading.Owner, list)
	if err != nil || !reflect.DeepEqual(add, append([]reading.FilterWish{list[0]}, list[3:]...)) ||
		!reflect.DeepEqual(others, []reading.FilterWish{other}) {
		t.Errorf("add %+v, others %+v, %v", add, others, err)
	}
}

// A list for which there is no room is refused as a whole.
func TestAddingWithoutRoom(t *testing.T) {
	var has reading.Names
	var stand []reading.FilterWish
	for i := range reading.MaxFilters - 1 {
		w := reading.FilterWish{Name: fmt.Sprint("filter ", i), Words: "x"}
		has.Filters = append(has.Filters, reading.NamedFilter{FilterWish: w})
		has.Folders = append(has.Folders, reading.Folder{Name: fmt.Sprint("folder ", i)})
		has.Labels = append(has.Labels, reading.Label{Name: fmt.Sprint("label ", i)})
	}
	a := reading.FilterWish{Name: "A", Words: "x", Folder: "F", Rule: reading.RuleLabel, Label: "L"}
	if add, _, err := has.Adding(reading.Owner, []reading.FilterWish{a}); err != nil || len(add) != 1 {
		t.Errorf("there is room for one: %v", err)
	}
	b := reading.FilterWish{Name: "B", Words: "x"}
	if _, _, err := has.Adding(reading.Owner, []reading.FilterWish{a, b}); !errors.Is(err, reading.ErrFilters) {
		t.Errorf("one filter more: %v", err)
	}
	has.Filters = nil
	b.Folder = "G"
	if _, _, err := has.Adding(reading.Owner, []reading.FilterWish{a, b}); !errors.Is(err, reading.ErrFolders) {
		t.Errorf("one folder more: %v", err)
	}
	b.Folder, b.Rule, b.Label = "F", reading.RuleLabel, "M"
	if _, _, err := has.Adding(reading.Owner, []reading.FilterWish{a, b}); !errors.Is(err, reading.ErrLabels) {
		t.Errorf("one label more: %v", err)
	}
	for i := range reading.MaxStanding + 1 {
		stand = append(stand, reading.FilterWish{Name: fmt.Sprint("stands ", i), Words: "x", Standing: true})
	}
	if _, _, err := has.Adding(reading.Owner, stand); !errors.Is(err, reading.ErrStanding) {
		t.Errorf("one standing query more: %v", err)
	}
}

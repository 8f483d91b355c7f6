package reading

import (
	"fmt"
	"slices"
)

// Names are what a person has that is named.
type Names struct {
	Filters []NamedFilter
	Folders []Folder
	Labels  []Label
}

// Adding are the filters of a list that a person with these names has yet to be given, in its order, and those that are
// there already and are something else. The error says why one of the former cannot be, as Filters.AddFilter would. The
// wishes are such as Checked makes.
func (n Names) Adding(p PersonID, list []FilterWish) (add, others []FilterWish, err error) {
	has := make(map[string]string) // what has a name
	standing := 0
	for _, f := range n.Filters {
		has[f.Name] = "filter"
		if f.Standing {
			standing++
		}
	}
	for _, f := range n.Folders {
		has[f.Name] = "folder"
	}
	for _, l := range n.Labels {
		has[l.Name] = "label"
	}
	left := map[string]int{"filter": MaxFilters - len(n.Filters), "folder": MaxFolders - len(n.Folders),
		"label": MaxLabels - len(n.Labels)}
	full := map[string]error{"filter": ErrFilters, "folder": ErrFolders, "label": ErrLabels}
	listed := make(map[string]bool)
	for _, w := range list {
		if listed[w.Name] {
			return nil, nil, fmt.Errorf("two filters of the list are named %q", w.Name)
		}
		listed[w.Name] = true
		if i := slices.IndexFunc(n.Filters, func(f NamedFilter) bool { return f.Name == w.Name }); i >= 0 {
			there := n.Filters[i].FilterWish
			if there.Standing = w.Standing; there != w {
				others = append(others, w)
			}
			continue
		}
		if w.Standing {
			err = CheckStanding(p, standing)
			standing++
		}
		if w.Rule == RuleFull && p != Owner {
			err = ErrOwnersRule
		}
		if err != nil {
			return nil, nil, fmt.Errorf("filter %q: %w", w.Name, err)
		}
		for _, x := range []struct{ what, name string }{{"filter", w.Name}, {"folder", w.Folder}, {"label", w.Label}} {
			switch what := has[x.name]; {
			case x.name == "" || what == x.what && what != "filter":
				continue
			case what != "":
				err = TakenBy(what, x.name)
			case left[x.what] == 0:
				err = full[x.what]
			}
			if err != nil && x.what == "filter" {
				return nil, nil, fmt.Errorf("filter %q: %w", w.Name, err)
			} else if err != nil {
				return nil, nil, fmt.Errorf("%s of filter %q: %w", x.what, w.Name, err)
			}
			has[x.name] = x.what
			left[x.what]--
		}
		add = append(add, w)
	}
	return add, others, nil
}

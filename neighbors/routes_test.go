package neighbors

import (
	"testing"

	"pgregory.net/rapid"

	"feedex/feed"
)

// Each feed keeps its own marks and cells, whatever comes and goes, and is found under its name alone.
func TestRoutesKeepApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type content struct {
			marks marks
			cells []cell
		}
		var r routes
		want := make(map[feed.URL]*content)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				u := url(rapid.IntRange(0, 40).Draw(t, "feed"))
				c := want[u]
				if c == nil {
					c = &content{cells: make([]cell, r.width)}
					want[u] = c
				}
				i := r.row(u)
				c.marks = marks(rapid.Uint8().Draw(t, "marks"))
				r.list[i].marks = c.marks
				for k := range c.cells {
					c.cells[k] = cell{heard: rapid.Int8().Draw(t, "heard"), told: rapid.Int8().Draw(t, "told")}
					r.of(i)[k] = c.cells[k]
				}
			},
			"remove": func(t *rapid.T) {
				u := url(rapid.IntRange(0, 40).Draw(t, "feed"))
				if i := r.find(u); i != nowhere {
					last := r.list[len(r.list)-1].url
					if moved := r.remove(i); int(moved) != len(r.list) || last != u && r.find(last) != i {
						t.Fatalf("the last of %d came to row %d, not %d", len(r.list)+1, r.find(last), i)
					}
				}
				delete(want, u)
			},
			"widen": func(t *rapid.T) {
				if r.width == 10 {
					t.Skip("there are ten columns, one for each neighbor that a node has")
				}
				r.widen()
				for _, c := range want {
					c.cells = append(c.cells, cell{})
				}
			},
			"": func(t *rapid.T) {
				for i := range 41 {
					u := url(i)
					at, c := r.find(u), want[u]
					if (at == nowhere) != (c == nil) {
						t.Fatalf("%s is at %d, want %v", u, at, c)
					}
					if c == nil {
						continue
					}
					if r.list[at].url != u || r.list[at].marks != c.marks {
						t.Fatalf("%s has %+v, want %+v", u, r.list[at], c)
					}
					for k, cell := range r.of(at) {
						if cell != c.cells[k] {
							t.Fatalf("%s has %v, want %v", u, r.of(at), c.cells)
						}
					}
				}
				if len(r.list) != len(want) || len(r.cells) != len(want)*r.width {
					t.Fatalf("%d routes and %d cells, want %d", len(r.list), len(r.cells), len(want))
				}
			},
		})
	})
}

// The table names its own rows right, however routes move, and keeps none of which there is nothing to say.
func checkRoutes(t *rapid.T, table *RoutingTable) {
	owned := 0
	for i, r := range table.routes.list {
		if r.marks&isOwn != 0 {
			owned++
		}
		if table.routes.empty(row(i)) {
			t.Fatalf("there is nothing to say of %s", r.url)
		}
	}
	for _, i := range table.own {
		if table.routes.list[i].marks&isOwn == 0 {
			t.Fatalf("%s counts as our own", table.routes.list[i].url)
		}
	}
	if len(table.own) != owned {
		t.Fatalf("%d feeds count as our own, %d are", len(table.own), owned)
	}
}

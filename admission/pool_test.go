package admission

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const patience = time.Second

// fill has a place taken from each of the addresses.
func fill(p *SharedPool[string], addrs ...string) {
	for _, a := range addrs {
		p.Enter(start, netip.MustParseAddr(a), 1, a)
	}
}

// repeat is n addresses.
func repeat(n int, format string) (addrs []string) {
	for i := range n {
		addrs = append(addrs, fmt.Sprintf(format, i))
	}
	return addrs
}

func TestWhoGivesWay(t *testing.T) {
	for _, c := range []struct {
		name  string
		held  []string
		comes string
		after time.Duration
		want  string // the caller that gives way, "none" for nobody, "" for a refusal
	}{
		{"there is room", []string{"1.1.1.1", "1.1.1.1"}, "1.1.1.1", 0, "none"},
		{"to another region", repeat(4, "1.1.1.%d"), "2.1.1.1", 0, "1.1.1.0"},
		{"to another network", repeat(4, "1.1.1.%d"), "1.1.2.1", 0, "1.1.1.0"},
		{"to another host", []string{"1.1.1.1", "1.1.1.1", "1.1.1.1", "1.1.1.1"}, "1.1.1.2", 0, "1.1.1.1"},
		{"the larger region, not the larger host", []string{"2.1.1.1", "2.1.1.1", "1.1.1.1", "1.1.2.1"}, "3.1.1.1",
			0, "2.1.1.1"},
		{"the larger network of a region", []string{"1.1.1.1", "1.1.2.1", "1.1.2.2", "1.2.1.1"}, "3.1.1.1",
			0, "1.1.2.1"},
		{"nobody has more", repeat(4, "%d.1.1.1"), "9.1.1.1", 0, ""},
		{"nobody has more, and all have patience", repeat(4, "%d.1.1.1"), "9.1.1.1", patience - 1, ""},
		{"nobody has more, and it took too long", repeat(4, "%d.1.1.1"), "9.1.1.1", patience, "0.1.1.1"},
		{"others have less", []string{"1.1.1.1", "1.1.1.1", "2.1.1.1", "3.1.1.1"}, "1.1.1.1", 0, ""},
		{"others have less, for its own", []string{"1.1.1.1", "1.1.1.1", "2.1.1.1", "3.1.1.1"}, "1.1.1.1",
			patience, "1.1.1.1"},
		{"others have less, for those beside it", []string{"1.1.1.1", "1.1.1.1", "2.1.1.1", "3.1.1.1"}, "1.1.2.1",
			0, "1.1.1.1"},
		{"one customer of IPv6", []string{"2a00::1", "2a00::2", "2a00::3", "2a01::1"}, "2a01:0:0:1::1", 0, "2a00::1"},
		{"one /48", []string{"2a00::1", "2a00:0:0:1::", "2a00:0:0:2::", "2a00:0:1::"}, "2a00:0:2::", 0, "2a00::1"},
		{"one /32", []string{"2a00::1", "2a00:0:1::", "2a00:0:2::", "2a00:0:3::"}, "2b00::1", 0, "2a00::1"},
		{"mapped", []string{"::ffff:1.1.1.1", "1.1.1.1", "1.1.1.1", "2.1.1.1"}, "3.1.1.1", 0, "::ffff:1.1.1.1"},
	} {
		p := NewSharedPool[string](4, patience)
		fill(p, c.held...)
		place, gaveUp := p.Enter(start.Add(c.after), netip.MustParseAddr(c.comes), 1, "newcomer")
		got := "none"
		switch {
		case place == nil:
			got = ""
		case len(gaveUp) == 1:
			got = gaveUp[0].Of
		}
		if got != c.want || len(gaveUp) > 1 || p.Len() > 4 || (place == nil) != (c.want == "") {
			t.Errorf("%s: %q gives way of %d, want %q", c.name, got, len(gaveUp), c.want)
		}
	}
}

// Of callers that hold equally much the one goes that has kept us waiting for longest, and none that waits for us.
func TestTheIdlestGoes(t *testing.T) {
	p := NewSharedPool[string](4, patience)
	var places []*Place[string]
	for _, a := range repeat(4, "%d.1.1.1") {
		place, _ := p.Enter(start, netip.MustParseAddr(a), 1, a)
		places = append(places, place)
	}
	places[0].Serve()
	places[1].Await(start.Add(2 * time.Second))
	places[2].Await(start.Add(time.Second))
	places[3].Serve()
	for _, want := range []string{"2.1.1.1", "1.1.1.1", ""} {
		place, gaveUp := p.Enter(start.Add(5*time.Second), netip.MustParseAddr("9.1.1.1"), 1, "newcomer")
		if (place == nil) != (want == "") || place != nil && gaveUp[0].Of != want {
			t.Fatalf("%v give way, want %s", gaveUp, want)
		}
		if place != nil {
			p.Move(place, netip.MustParseAddr(gaveUp[0].Of)) // it comes in its stead, and waits for us
			place.Serve()
		}
	}
}

// A place that has become heavier takes room of callers that hold more, and none where that is not enough.
func TestGrow(t *testing.T) {
	p := NewSharedPool[string](10, patience)
	heavy, _ := p.Enter(start, netip.MustParseAddr("1.1.1.1"), 6, "heavy")
	light, _ := p.Enter(start, netip.MustParseAddr("2.1.1.1"), 2, "light")
	if gaveUp, ok := p.Grow(start, light, 2); !ok || len(gaveUp) > 0 {
		t.Fatalf("%v, %v", gaveUp, ok)
	}
	if gaveUp, ok := p.Grow(start, heavy, 1); ok || len(gaveUp) > 0 || p.taken != 10 {
		t.Fatalf("the heavier one takes of the lighter: %v, %v", gaveUp, ok)
	}
	if gaveUp, ok := p.Grow(start, light, 1); !ok || len(gaveUp) != 1 || gaveUp[0] != heavy || p.taken != 5 {
		t.Fatalf("%v, %v, %d taken", gaveUp, ok, p.taken)
	}
	if p.Leave(heavy) || !p.Leave(light) || p.Leave(light) || p.taken != 0 || len(p.holders) != 0 {
		t.Errorf("%d taken, %d holders", p.taken, len(p.holders))
	}
	if place, _ := p.Enter(start, netip.MustParseAddr("1.1.1.1"), 11, "too heavy"); place != nil || p.taken != 0 {
		t.Errorf("one got more than there is")
	}
}

// Whatever happens the places are bounded, are counted right, and are given up by callers alone that hold more, or have
// kept us waiting.
func TestProperties(t *testing.T) {
	anyAddr := rapid.Custom(func(t *rapid.T) netip.Addr {
		b := func(most int, name string) byte { return byte(rapid.IntRange(1, most).Draw(t, name)) }
		if rapid.Bool().Draw(t, "v6") {
			return netip.AddrFrom16([16]byte{0x2a, 3: b(3, "region"), 5: b(3, "network"), 7: b(3, "host"),
				15: b(200, "rest")})
		}
		return netip.AddrFrom4([4]byte{1, b(4, "region"), b(3, "network"), b(3, "host")})
	})
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.SampledFrom([]int{1, 5, 20}).Draw(t, "capacity")
		p, now := NewSharedPool[netip.Addr](capacity, patience), start
		var held []*Place[netip.Addr]
		weights := func(place *Place[netip.Addr]) (w [levels]int) {
			for i, h := range place.holders {
				w[i] = h.weight
			}
			return w
		}
		drop := func(place *Place[netip.Addr]) {
			for i := range held {
				if held[i] == place {
					held = append(held[:i], held[i+1:]...)
					return
				}
			}
			t.Fatalf("%s gives way and holds nothing", place.Of)
		}
		one := func(t *rapid.T) *Place[netip.Addr] {
			if len(held) == 0 {
				t.Skip("nobody holds a place")
			}
			return rapid.SampledFrom(held).Draw(t, "place")
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				taken, counted := 0, make(map[netip.Prefix]int)
				for _, place := range held {
					taken += place.weight
					for _, prefix := range prefixes(place.Of) {
						counted[prefix] += place.weight
					}
				}
				if taken > capacity || taken != p.taken || len(held) != p.Len() || len(counted) != len(p.holders) {
					t.Fatalf("%d taken of %d, counted %d; %d places, counted %d; %d holders, counted %d",
						taken, capacity, p.taken, len(held), p.Len(), len(counted), len(p.holders))
				}
				for prefix, n := range counted {
					if h := p.holders[prefix]; h == nil || h.weight != n {
						t.Fatalf("%s holds %d, counted %v", prefix, n, h)
					}
				}
			},
			"pass": func(*rapid.T) { now = now.Add(patience / 3) },
			"enter": func(t *rapid.T) {
				from := anyAddr.Draw(t, "from")
				full := p.taken == capacity
				most, own := 0, 1
				for _, h := range p.holders {
					if h.prefix == prefixes(from)[0] {
						own += h.weight
					} else if h.prefix.Bits() == bits4[0] && h.prefix.Addr().Is4() || h.prefix.Bits() == bits6[0] &&
						h.prefix.Addr().Is6() {
						most = max(most, h.weight)
					}
				}
				before := make(map[*Place[netip.Addr]][levels]int)
				for _, place := range held {
					before[place] = weights(place)
				}
				place, gaveUp := p.Enter(now, from, 1, from)
				if (place == nil) && (!full || most > own) {
					t.Fatalf("%s is refused: %v full, its region would hold %d, the largest %d", from, full, own, most)
				}
				for _, other := range gaveUp {
					drop(other)
					for i, prefix := range prefixes(from) {
						if prefixes(other.Of)[i] == prefix {
							continue
						}
						if before[other][i] <= place.holders[i].weight && now.Sub(other.waits) < patience {
							t.Fatalf("%s gives way to %s, which holds as much", other.Of, from)
						}
						break
					}
				}
				if place != nil {
					held = append(held, place)
				}
			},
			"leave": func(t *rapid.T) {
				place := one(t)
				if !p.Leave(place) {
					t.Fatal("it was not held")
				}
				drop(place)
			},
			"move": func(t *rapid.T) {
				place := one(t)
				place.Of = anyAddr.Draw(t, "to")
				p.Move(place, place.Of)
			},
			"grow": func(t *rapid.T) {
				place := one(t)
				gaveUp, _ := p.Grow(now, place, rapid.IntRange(1, 3).Draw(t, "weight"))
				for _, other := range gaveUp {
					drop(other)
				}
			},
			"serve": func(t *rapid.T) { one(t).Serve() },
			"await": func(t *rapid.T) { one(t).Await(now) },
		})
	})
}

func BenchmarkEnter(b *testing.B) {
	p := NewSharedPool[int](512, patience)
	b.ReportAllocs()
	for i := range b.N {
		p.Enter(start, netip.AddrFrom4([4]byte{1, byte(i % 20), byte(i >> 8), byte(i)}), 1, i)
	}
}

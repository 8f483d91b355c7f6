package filter

import "math"

// A location is where an expression is: at which term, and where in what is filed there.
type location struct{ term, at uint32 }

// wideTerm stands for no term: the expression is a wide one, of that number.
const wideTerm = math.MaxUint32

// places are those of all expressions, in pages of a few IDs each.
type places struct {
	pages map[ID]*page
	n     int
}

const pageSize = 64

// A page is the places of IDs that have all but the last digit in common.
type page struct {
	of [pageSize]location
	is uint64 // a bit for each that there is
}

func (p *places) put(id ID, at location) {
	if p.pages == nil {
		p.pages = make(map[ID]*page)
	}
	on := p.pages[id/pageSize]
	if on == nil {
		on = new(page)
		p.pages[id/pageSize] = on
	}
	i := id % pageSize
	if on.is&(1<<i) == 0 {
		p.n++
	}
	on.is |= 1 << i
	on.of[i] = at
}

// take returns the place of an ID and forgets it; false for one that is not there.
func (p *places) take(id ID) (location, bool) {
	on, i := p.pages[id/pageSize], id%pageSize
	if on == nil || on.is&(1<<i) == 0 {
		return location{}, false
	}
	p.n--
	if on.is &^= 1 << i; on.is == 0 {
		delete(p.pages, id/pageSize)
	}
	return on.of[i], true
}

package filter

// places are where the blocks of IDs are, in pages of a few IDs each.
type places struct {
	pages map[ID]*page
	n     int
}

const pageSize = 64

// A page is the places of IDs that have all but the last digit in common.
type page struct {
	at [pageSize]uint32
	is uint64 // a bit for each that there is
}

func (p *places) put(id ID, at uint32) {
	if p.pages == nil {
		p.pages = make(map[ID]*page)
	}
	of := p.pages[id/pageSize]
	if of == nil {
		of = new(page)
		p.pages[id/pageSize] = of
	}
	i := id % pageSize
	if of.is&(1<<i) == 0 {
		p.n++
	}
	of.is |= 1 << i
	of.at[i] = at
}

// take returns the place of an ID and forgets it; false for one that is not there.
func (p *places) take(id ID) (at uint32, ok bool) {
	of, i := p.pages[id/pageSize], id%pageSize
	if of == nil || of.is&(1<<i) == 0 {
		return 0, false
	}
	p.n--
	if of.is &^= 1 << i; of.is == 0 {
		delete(p.pages, id/pageSize)
	}
	return of.at[i], true
}

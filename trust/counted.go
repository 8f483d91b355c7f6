package trust

import "feedex/internal/ordered"

// counted gives keys numbers, for lists of thousands of things that have few of them, and counts how many have
// which. A number that nothing has any more is given to another key. The zero counted has none.
type counted[K comparable] struct {
	numbers ordered.Map[K, uint32]
	list    []count[K] // by number
	free    []uint32
}

type count[K comparable] struct {
	key   K
	count int
}

// find is the number of a key, and whether anything has it.
func (c *counted[K]) find(k K) (number uint32, ok bool) {
	if known := c.numbers.Get(k); known != nil {
		return *known, true
	}
	return 0, false
}

// key is that of a number which something has.
func (c *counted[K]) key(number uint32) K { return c.list[number].key }

// take counts one more that has the key.
func (c *counted[K]) take(k K) uint32 {
	number, known := c.find(k)
	if !known {
		number = c.place()
		c.list[number].key = k
		c.numbers.Put(k, number)
	}
	c.list[number].count++
	return number
}

// place is a number that nothing has.
func (c *counted[K]) place() (number uint32) {
	if n := len(c.free); n > 0 {
		number, c.free = c.free[n-1], c.free[:n-1]
		return number
	}
	c.list = append(c.list, count[K]{})
	return uint32(len(c.list) - 1)
}

// drop counts one less.
func (c *counted[K]) drop(number uint32) {
	if at := &c.list[number]; at.count > 1 {
		at.count--
	} else {
		c.numbers.Delete(at.key)
		*at = count[K]{}
		c.free = append(c.free, number)
	}
}

// most is the number that most have, of several the one of the least key.
func (c *counted[K]) most(compare func(a, b K) int) (number uint32) {
	for i, other := range c.list {
		at := &c.list[number]
		if other.count > at.count || other.count == at.count && compare(other.key, at.key) < 0 {
			number = uint32(i)
		}
	}
	return number
}

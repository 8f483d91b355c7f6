package reading

import (
	"fmt"
	"maps"
	"net/netip"
	"time"

	"feedex/internal/when"
)

const (
	// freeGuesses is how many wrong passwords an address may show at once, and guessEvery after what time it may show
	// one more.
	freeGuesses = 10
	guessEvery  = 10 * time.Second
	// maxGuessers bounds of how many addresses wrong passwords are remembered, and maxFamiliar of how many pairs of an
	// address and a password that the owner came in so.
	maxGuessers = 4096
	maxFamiliar = 1024
)

// A Slowed is the error of clients that may show no password until Wait is over: too many from their address were
// wrong.
type Slowed struct{ Wait time.Duration }

func (e Slowed) Error() string {
	return fmt.Sprintf("too many wrong passwords came from your address; try again in %d seconds", e.Seconds())
}

// Seconds is how long to wait, in whole seconds, for the header Retry-After.
func (e Slowed) Seconds() int { return int((e.Wait + time.Second - 1) / time.Second) }

// Guesses slow attackers down who guess at passwords, by their address, of which an IPv6 /64 is one. The owner at
// another address notices nothing of that, and nor does a program at the same one whose password let it in from there
// before. It has no clock and is not safe for concurrent use. The zero value is ready.
type Guesses struct {
	// wrong is until when the guesses of an address are all paid for, at one in guessEvery. An address that is further
	// ahead than freeGuesses waits.
	wrong    map[netip.Addr]time.Time
	familiar map[familiar]time.Time // when it was last used
}

// familiar is a password at an address at which it is right.
type familiar struct {
	from netip.Addr
	hash Hash
}

// Try counts a password that is shown at now by a client at an address. The error is a Slowed where the client has to
// wait; then the password must not be looked at.
func (g *Guesses) Try(now time.Time, from netip.Addr, h Hash) error {
	from = guesserAt(from)
	if _, ok := g.familiar[familiar{from, h}]; ok {
		return nil
	}
	paid := when.Later(g.wrong[from], now)
	if wait := paid.Add(guessEvery).Sub(now) - freeGuesses*guessEvery; wait > 0 {
		return Slowed{wait}
	}
	if g.wrong == nil {
		g.wrong = make(map[netip.Addr]time.Time)
	}
	if _, known := g.wrong[from]; !known && len(g.wrong) >= maxGuessers {
		g.forget(now)
	}
	g.wrong[from] = paid.Add(guessEvery)
	return nil
}

// Right says that the password was right that Try counted.
func (g *Guesses) Right(now time.Time, from netip.Addr, h Hash) {
	from = guesserAt(from)
	pair := familiar{from, h}
	if _, ok := g.familiar[pair]; !ok {
		if g.familiar == nil {
			g.familiar = make(map[familiar]time.Time)
		}
		if len(g.familiar) >= maxFamiliar {
			delete(g.familiar, earliest(g.familiar))
		}
		if paid, ok := g.wrong[from]; ok {
			g.wrong[from] = paid.Add(-guessEvery)
		}
	}
	g.familiar[pair] = now
}

// Familiar reports whether somebody at the address has shown a right password.
func (g *Guesses) Familiar(from netip.Addr) bool {
	from = guesserAt(from)
	for pair := range g.familiar {
		if pair.from == from {
			return true
		}
	}
	return false
}

// forget makes room for one more address: what is paid for, and else the address that has the least to wait for.
func (g *Guesses) forget(now time.Time) {
	maps.DeleteFunc(g.wrong, func(_ netip.Addr, paid time.Time) bool { return !paid.After(now) })
	if len(g.wrong) >= maxGuessers {
		delete(g.wrong, earliest(g.wrong))
	}
}

// earliest is the key with the earliest time.
func earliest[K comparable](m map[K]time.Time) (first K) {
	var at time.Time
	for k, t := range m {
		if at.IsZero() || t.Before(at) {
			first, at = k, t
		}
	}
	return first
}

// guesserAt is the address by which one guesser is told from another: of IPv6 the /64, which is one customer's.
func guesserAt(a netip.Addr) netip.Addr {
	if a = a.Unmap().WithZone(""); a.Is4() {
		return a
	}
	p, _ := a.Prefix(64)
	return p.Addr()
}

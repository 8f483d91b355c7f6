package reading

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func guess(g *Guesses, now time.Time, from, secret string) error {
	return g.Try(now, netip.MustParseAddr(from), HashOf(secret))
}

// guesses is how many of so many guesses of an address are looked at.
func guesses(g *Guesses, now time.Time, from string, n int) (looked int) {
	for i := range n {
		if guess(g, now, from, fmt.Sprint("wrong", i)) == nil {
			looked++
		}
	}
	return looked
}

func TestGuessesAreSlowed(t *testing.T) {
	var g Guesses
	const guesser = "2a00:1:2:3::1"
	if n := guesses(&g, noon, guesser, 1000); n != freeGuesses {
		t.Errorf("%d guesses are looked at, want %d", n, freeGuesses)
	}
	var slowed Slowed
	if err := guess(&g, noon, "2a00:1:2:3:ffff::9", "wrong"); !errors.As(err, &slowed) || slowed.Wait != guessEvery ||
		slowed.Seconds() != 10 {
		t.Errorf("another address of the same /64: %v", err)
	}
	if n := guesses(&g, noon.Add(time.Hour), guesser, 1000); n != freeGuesses {
		t.Errorf("an hour later %d are, want %d", n, freeGuesses)
	}
	if n := guesses(&g, noon.Add(time.Hour+3*guessEvery), guesser, 1000); n != 3 {
		t.Errorf("half a minute after that %d are, want 3", n)
	}
	for _, other := range []string{"2a00:1:2:4::1", "192.0.2.1"} {
		if err := guess(&g, noon, other, "right"); err != nil {
			t.Errorf("%s has to wait: %v", other, err)
		}
	}
	if n := guesses(&g, noon, "192.0.2.2", freeGuesses); n != freeGuesses ||
		guess(&g, noon, "::ffff:192.0.2.2", "wrong") == nil {
		t.Error("an IPv4 address that is mapped into IPv6 is another one")
	}
}

// A program that came in by a password before does so while another at the same address guesses, and nothing is learned
// of others.
func TestTheOwnerIsNotLockedOut(t *testing.T) {
	var g Guesses
	shared, right := netip.MustParseAddr("127.0.0.1"), HashOf("right")
	for range 1000 { // it costs no guesses
		if err := g.Try(noon, shared, right); err != nil {
			t.Fatal(err)
		}
		g.Right(noon, shared, right)
	}
	if n := guesses(&g, noon, "127.0.0.1", 1000); n != freeGuesses {
		t.Errorf("%d guesses are looked at, want %d", n, freeGuesses)
	}
	if err := g.Try(noon, shared, right); err != nil {
		t.Errorf("the owner has to wait: %v", err)
	}
	if err := g.Try(noon, shared, HashOf("right elsewhere")); err == nil {
		t.Error("a password that was not used there is looked at")
	}
	if !g.Familiar(shared) || g.Familiar(netip.MustParseAddr("192.0.2.1")) {
		t.Error("it is not known where the owner is")
	}
}

// Addresses cost nothing, memory does; and an address that guesses on is not forgotten for others that did once.
func TestGuessersAreBounded(t *testing.T) {
	var g Guesses
	guesses(&g, noon, "192.0.2.1", 1000)
	for i := range 3 * maxGuessers {
		from := netip.AddrFrom16([16]byte{0x2a, 4: byte(i >> 16), 5: byte(i >> 8), 6: byte(i)})
		if err := g.Try(noon, from, HashOf("wrong")); err != nil {
			t.Fatalf("guesser %d: %v", i, err)
		}
		h := HashOf(fmt.Sprint(i))
		g.Right(noon.Add(time.Duration(i)), from, h)
	}
	if len(g.wrong) > maxGuessers || len(g.familiar) > maxFamiliar {
		t.Errorf("%d guessers and %d passwords are remembered", len(g.wrong), len(g.familiar))
	}
	if guess(&g, noon, "192.0.2.1", "wrong") == nil {
		t.Error("the address that guesses most was forgotten")
	}
	for i := range maxGuessers {
		guess(&g, noon, fmt.Sprintf("198.18.%d.%d", i/250, i%250), "wrong")
	}
	if guess(&g, noon.Add(time.Hour), "192.0.2.2", "wrong"); len(g.wrong) != 1 {
		t.Errorf("%d are remembered an hour after they guessed", len(g.wrong))
	}
}

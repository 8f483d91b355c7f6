// Package feed holds what a news feed is made of: the URL that names a feed, the entries that it
// publishes, the rules by which an entry is known again, and the parser that reads RSS, Atom and
// JSON Feed documents from bytes.
//
// It does no I/O and reads no clock: a document arrives as bytes together with the time at which it
// was fetched. Its values are plain and may be shared between goroutines as long as nobody writes.
//
// Identity follows Paper §2 and §3: a feed is its URL; an entry is its id or guid together with the
// feed's URL, or, where it has none, its title and link.
package feed

package feed

import "strings"

// Limits of a feed document. They stand between the network and gofeed, which trusts what it reads:
// it recurses into nested elements until the process dies, copies every namespace in scope for every
// element and every text for every piece of it, and resolves every xml:base against the one before.
// They replace a deadline, because this package reads no clock: equal documents are always judged
// alike.
const (
	// MaxDocumentBytes is the largest document that Parse takes, after decompression.
	MaxDocumentBytes = 10 << 20
	// MaxEntries is the most entries in a document.
	MaxEntries = 10_000

	maxDepth      = 256       // elements inside one another; feeds with XHTML inside reach 30
	maxElements   = 250_000   // elements, or objects in JSON; a podcast of 3,000 episodes has 90,000
	maxAttributes = 250_000   // attributes of all elements
	maxFurther    = 1_000_000 // members and elements in JSON that stand behind others; one may cost 200 bytes
	maxLinks      = 32 << 20  // bytes of relative links, each made absolute against an address of up to MaxURLBytes
	maxWork       = 2e9       // estimated nanoseconds of gofeed, see work
)

// work estimates how long gofeed takes for the parts of a document whose cost is not proportional to
// its length. The factors are nanoseconds, rounded up from what was measured on one core.
const (
	workElement   = 1000   // an element kept as an extension
	workAttr      = 200    // an attribute of one
	workNamespace = 80     // a namespace in scope, copied for each element
	workBase      = 3      // a byte of xml:base in scope, for each address resolved against it
	workText      = 0.1    // a byte of text already read, for each further piece of it
	workDate      = 20_000 // a date that is in none of the 170 forms that gofeed tries
	workDateText  = 250    // a byte of one, which each of them quotes in its error
	workEdit      = 2_000  // a repair; mostly for the memory that it takes
)

// count takes the start of an element, in what is open, to the account of the document.
func (w *walk) count(e *element, t token) error {
	if n := len(w.open); n > 0 {
		e.namespaces, e.base = w.open[n-1].namespaces, w.open[n-1].base
	}
	w.elements++
	w.attributes += len(t.attrs)
	if w.entry(e.local) {
		w.entries++
	}
	w.measure(e, t.attrs)
	switch {
	case len(w.open) == maxDepth:
		return overAt(t.from, "elements nested deeper than %d", maxDepth)
	case w.elements > maxElements:
		return overAt(t.from, "more than %d elements", maxElements)
	case w.attributes > maxAttributes:
		return overAt(t.from, "more than %d attributes", maxAttributes)
	case w.entries > MaxEntries:
		return overAt(t.from, "more than %d entries", MaxEntries)
	}
	return nil
}

// measure adds the element's work and what its attributes put into scope.
func (w *walk) measure(e *element, attrs []attr) {
	addresses := 1
	for i := range attrs {
		switch prefix, local := cutName(attrs[i].name); {
		case prefix == "xmlns", prefix == "" && local == "xmlns":
			e.namespaces++
		case prefix != "" && local == "base":
			e.base += len(attrs[i].value)
			addresses++
		default:
			addresses++
		}
	}
	if e.date = dateElements[strings.ToLower(e.local)]; e.date {
		w.work += workDate
	}
	w.work += workElement + workAttr*float64(len(attrs)) + workNamespace*float64(e.namespaces) +
		workBase*float64(addresses)*float64(e.base)
}

// dateElements are the elements that gofeed reads as dates.
var dateElements = map[string]bool{
	"pubdate": true, "lastbuilddate": true, "date": true,
	"published": true, "issued": true, "updated": true, "modified": true,
}

// short cuts an element's name to what an error text bears.
func short(name string) string { return name[:min(len(name), 64)] }

// Package archtest holds the repository to its architecture: which package may import which, what the
// packages without I/O must keep away from, and how long a file may be. It has tests only; this file
// is their data.
package archtest

// module is the path in front of every package of the repository.
const module = "feedex/"

// layers assigns each package its layer. A package imports packages of lower layers only, so those of
// one layer never meet. A package that is not listed fails the test: decide where it belongs.
func layers() map[string]int {
	return map[string]int{
		"admission":        0,
		"feed":             0,
		"fetch/grade":      0,
		"xmlrpc":           0,
		"internal/ordered": 0,
		"internal/queue":   0,
		"internal/when":    0,
		"protocol":         1,
		"polling":          1,
		"courtesy":         1,
		"opml":             1,
		"discover":         1,
		"safehtml":         1,
		"neighbors":        2,
		"incentive":        2,
		"trust":            2,
		"search":           2,
		"reading":          2,
		"archive":          2,
		"node":             3,
		"archive/jsonl":    3,
		"tracker":          3,
		"guard":            3,
		"syncapi":          3,
		"archive/sqlite":   4,
		"transport":        4,
		"fetch":            4,
		"lab/trace":        4,
		"lab/baseline":     4,
		"lab/actor":        4,
		"reader":           4,
		"reader/proxy":     4,
		"reader/websub":    4,
		"reader/greader":   4,
		"reader/fever":     4,
		"reader/miniflux":  4,
		"reader/nextcloud": 4,
		"web":              4,
		"daemon":           5,
		"lab":              5,
		"demo":             6,
		"lab/experiment":   6,
		"cmd/feedex":       7,
	}
}

// testOnly lists the packages that only tests import.
func testOnly() map[string]bool {
	return map[string]bool{"archive/archivetest": true, "internal/archtest": true, "internal/tally": true,
		"reader/readertest": true}
}

// coreLayers is the number of layers, from the bottom, that do no I/O, start no goroutine and read no
// clock: what happens there is decided by their arguments alone.
const coreLayers = 4

// forbiddenInCore lists what packages of the core must not import, and why.
func forbiddenInCore() map[string]string {
	return map[string]string{
		"net":          "the core does no I/O; net/netip is allowed",
		"net/http":     "the core does no I/O",
		"os":           "the core does no I/O",
		"syscall":      "the core does no I/O",
		"database/sql": "the core does no I/O",
		"sync":         "the core is single-threaded",
		"sync/atomic":  "the core is single-threaded",
		"math/rand":    "randomness is a *rand.Rand of math/rand/v2, given at construction",
		"crypto/rand":  "randomness is a *rand.Rand of math/rand/v2, given at construction",
		"log":          "the core says what happened by effects",
		"log/slog":     "the core says what happened by effects",
		"context":      "nothing in the core waits",
	}
}

// exceptions lists, for a package of the core, imports that it may have all the same, and why.
func exceptions() map[string]map[string]string {
	return map[string]map[string]string{
		"guard": {
			"net":     "it is the check that dialers run on a resolved address",
			"syscall": "the signature of net.Dialer's hook names syscall.RawConn",
			"context": "likewise context.Context",
		},
		"archive": {
			"context": "Searcher is called beside the loop and may be slow",
		},
		"reading": {
			"context": "Library is called beside the loop and may be slow",
		},
		"syncapi": {
			"net/http": "it reads and answers requests that a server took in, and opens nothing itself",
			"context":  "likewise: the Library is asked as long as the request lasts",
			"log/slog": "it logs why a request could not be answered",
		},
	}
}

// forbiddenNames are folder names that say nothing about what is inside.
func forbiddenNames() []string {
	return []string{"util", "utils", "common", "helper", "helpers", "misc", "shared"}
}

// Limits on the length of a file, in lines. A file that passes them holds a second concept.
const (
	maxCodeLines = 500
	maxTestLines = 800
)

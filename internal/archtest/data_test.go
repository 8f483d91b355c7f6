// Package archtest holds the repository to its architecture: which package may import which, what the
// packages without I/O must keep away from, and how long a file may be. It has tests only; this file
// is their data, besides the table of layers in HACKING.md.
package archtest

// module is the path in front of every package of the repository.
const module = "feedex/"

// testOnly lists the packages that only tests import.
func testOnly() map[string]bool {
	return map[string]bool{"archive/archivetest": true, "archive/archivetest/ondisk": true, "filter/filtertest": true,
		"internal/archtest": true, "internal/asnobody": true, "internal/dnstest": true, "internal/logtest": true,
		"internal/tally": true, "notify/ntfytest": true, "notify/webpush/webpushtest": true, "reader/readertest": true,
		"reader/websub/websubtest": true}
}

// coreLayers is the number of layers, from the bottom, that do no I/O, start no goroutine and read no
// clock: what happens there is decided by their arguments alone.
const coreLayers = 6

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

// Package e2e has feedex used as people use it: by feed readers and by a browser, against the real program. It is a
// module of its own, so that what it needs is no dependency of feedex (docs/adr/0033-end-to-end-tests.md).
//
// Each test is skipped, with the reason, where a program that it drives is missing; with FEEDEX_E2E=1, as `make e2e`
// has it, it fails instead.
package e2e

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen. It only bounds a failing test.
const patience = 5 * time.Minute

// packages are those of Debian in which programs are that are not called as their package is.
var packages = map[string]string{"sfeed_update": "sfeed", "r2e": "rss2email", "ip": "iproute2", "nft": "nftables",
	"unshare": "util-linux", "avahi-browse": "avahi-utils", "smtpd": "opensmtpd", "dbus-daemon": "dbus",
	"miniupnpd": "miniupnpd-nftables", "prosodyctl": "prosody"}

// need skips the test if a program is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, "%s is missing: apt-get install %s", program, cmp.Or(packages[program], program))
		}
	}
}

// missing skips the test, or fails it where nothing may be missing.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("FEEDEX_E2E") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// eventually waits until met returns "", which says that nothing is amiss any more.
func eventually(t *testing.T, met func() (amiss string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience) // cleanups wait too
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		amiss := met()
		if amiss == "" {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("still after %v: %s", patience, amiss)
		}
	}
}

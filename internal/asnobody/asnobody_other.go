//go:build !linux

package asnobody

import (
	"os"
	"testing"
)

// Run reports whether the test runs as a user to whom something can be forbidden, and skips it where it does not.
func Run(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("run it as another user: nothing is forbidden to root")
	}
	return true
}

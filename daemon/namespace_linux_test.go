package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// namespaceVariable is set where a test runs in a network of its own.
const namespaceVariable = "FEEDEX_NAMESPACE"

// inNamespace reports whether the test runs in a network of its own, in which all addresses of 11.0.0.0/8, 20.0.0.0/8 and
// 2a00::/16 are this machine's: so many networks, which a node takes for public ones. Where it does not, it is run once
// more in such a network, and what comes of it is this test's outcome.
func inNamespace(tb testing.TB) bool {
	tb.Helper()
	if os.Getenv(namespaceVariable) != "" {
		return true
	}
	if _, err := exec.LookPath("ip"); err != nil {
		tb.Skip("iproute2 is not installed")
	}
	args := []string{"-test.v", "-test.count=1", "-test.timeout=10m"}
	pattern := "^" + strings.ReplaceAll(tb.Name(), "/", "$/^") + "$"
	if _, bench := tb.(*testing.B); bench {
		args = append(args, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime=1x")
	} else {
		args = append(args, "-test.run="+pattern)
	}
	cmd := exec.CommandContext(tb.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), namespaceVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), errNoNetwork):
		tb.Skipf("no network of its own can be had here:\n%s", out)
	case cmd.ProcessState == nil:
		tb.Skipf("no process in a network of its own can be had here: %v", err)
	case err != nil:
		tb.Fatalf("in a network of its own: %v\n%s", err, out)
	}
	if _, bench := tb.(*testing.B); bench {
		fmt.Printf("\n%s", out) // a benchmark's log is cut off after ten lines
	} else {
		tb.Logf("in a network of its own:\n%s", out)
	}
	return false
}

// errNoNetwork is what is said where the network cannot be made.
const errNoNetwork = "the network cannot be made"

// makeNetwork gives the namespace its addresses. A connection to one of a pair comes from the other, unless its maker says
// otherwise.
func makeNetwork(tb testing.TB, pairs ...[2]string) {
	tb.Helper()
	if err := os.WriteFile("/proc/sys/net/ipv6/ip_nonlocal_bind", []byte("1"), 0); err != nil {
		tb.Fatalf("%s: %v", errNoNetwork, err)
	}
	lines := []string{
		"link set lo up", "route add local 11.0.0.0/8 dev lo", "route add local 20.0.0.0/8 dev lo", "-6 route add local 2a00::/16 dev lo",
	}
	for _, p := range pairs {
		lines = append(lines, "route add local "+p[0]+" dev lo src "+p[1], "route add local "+p[1]+" dev lo src "+p[0])
	}
	for _, line := range lines {
		if out, err := exec.CommandContext(tb.Context(), "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			tb.Fatalf("%s: ip %s: %v: %s", errNoNetwork, line, err, out)
		}
	}
}

package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const (
	// namespaceVariable is set where a test runs in namespaces of its own.
	namespaceVariable = "FEEDEX_NAMESPACE"
	// namespacesVariable is set to 1 where this system is known to have them, as make check finds out: what lacks them
	// then fails, and is not skipped.
	namespacesVariable = "FEEDEX_HAS_NAMESPACES"
)

// inNamespace reports whether the test runs with a network and file systems of its own. There all addresses of
// 11.0.0.0/8, 20.0.0.0/8 and 2a00::/16 may be this machine's: so many networks, which a node takes for public ones.
// Where it does not, it is run once more in such a process, and what comes of it is this test's outcome.
func inNamespace(tb testing.TB) bool {
	tb.Helper()
	if os.Getenv(namespaceVariable) != "" {
		return true
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
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	lacks := tb.Skipf
	if os.Getenv(namespacesVariable) == "1" {
		lacks = tb.Fatalf
	}
	switch {
	case strings.Contains(string(out), errNoNamespace):
		lacks("%s", out)
	case cmd.ProcessState == nil:
		lacks("no process can have a network and file systems of its own, allow user namespaces (unshare --user "+
			"--net --mount): %v", err)
	case err != nil:
		tb.Fatalf("in a namespace: %v\n%s", err, out)
	}
	if _, bench := tb.(*testing.B); bench {
		fmt.Printf("\n%s", out) // a benchmark's log is cut off after ten lines
	} else {
		tb.Logf("in a namespace:\n%s", out)
	}
	return false
}

// errNoNamespace is the message where a namespace is of no use.
const errNoNamespace = "the namespace cannot be set up"

// makeNetwork gives the namespace its addresses. A connection to one of a pair comes from the other, and one to another
// of 20.0.0.0/8 from 20.0.0.1, unless its maker says otherwise.
func makeNetwork(tb testing.TB, pairs ...[2]string) {
	tb.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		tb.Fatalf("%s: iproute2 is not installed", errNoNamespace)
	}
	if err := os.WriteFile("/proc/sys/net/ipv6/ip_nonlocal_bind", []byte("1"), 0); err != nil {
		tb.Fatalf("%s: %v", errNoNamespace, err)
	}
	lines := []string{
		"link set lo up", "addr add 20.0.0.1/8 dev lo", "route add local 11.0.0.0/8 dev lo",
		"-6 route add local 2a00::/16 dev lo",
	}
	for _, p := range pairs {
		lines = append(lines, "route add local "+p[0]+" dev lo src "+p[1], "route add local "+p[1]+" dev lo src "+p[0])
	}
	for _, line := range lines {
		if out, err := exec.CommandContext(tb.Context(), "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			tb.Fatalf("%s: ip %s: %v: %s", errNoNamespace, line, err, out)
		}
	}
}

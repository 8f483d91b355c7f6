package daemon

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// ownNetwork is set in the environment of a process that runs in a network of its own.
const ownNetwork = "FEEDEX_TEST_OWN_NETWORK"

// inPublic runs f in a process with a network of its own, in which this machine has every address of 20.0.0.0/8. They
// are public ones, so that what nodes do there by addresses they do as on the Internet, without a setting that makes
// local addresses count. Where a process may not have a network of its own the test is skipped.
func inPublic(t *testing.T, f func(t *testing.T)) {
	if os.Getenv(ownNetwork) != "" {
		raiseLoopback(t)
		f(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), ownNetwork+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Skipf("a network of its own cannot be had: %v", err)
	}
	err := cmd.Wait()
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, said.String())
	case strings.Contains(said.String(), "--- SKIP"):
		t.Skip(said.String())
	}
}

// raiseLoopback gives this process's loopback device all of 20.0.0.0/8. As with 127.0.0.0/8, Linux then takes each of
// these addresses for the machine's own.
func raiseLoopback(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	set := func(device string, what uint, fill func(*unix.Ifreq)) {
		request, err := unix.NewIfreq(device)
		if err == nil {
			fill(request)
			err = unix.IoctlIfreq(fd, what, request)
		}
		if err != nil {
			t.Skipf("the loopback device takes no address: %v", err)
		}
	}
	set("lo", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING) })
	set("lo:1", unix.SIOCSIFADDR, func(r *unix.Ifreq) { // and of its class, which was that of 8 bits
		if err := r.SetInet4Addr(net.ParseIP("20.0.0.1").To4()); err != nil {
			t.Fatal(err)
		}
	})
}

package transport

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel keeps little for a peer that sends more than is read, or does not read what is sent.
func TestSocketsKeepLittle(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	peer, err := net.DialTimeout("tcp", tcp.Addr().String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	c, err := (&listener{Listener: tcp, limiter: NewLimiter(LimiterConfig{})}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for name, option := range map[string]int{"receive": unix.SO_RCVBUF, "send": unix.SO_SNDBUF} {
		size := socketOption(t, c, unix.SOL_SOCKET, option)
		if size <= 0 || size > 2*socketBytes { // the kernel takes it twice, for its own needs
			t.Errorf("the kernel keeps %d bytes to %s", size, name)
		}
	}
}

// The kernel asks whether the home of a reverse link over HTTP/1.1 is still there, and gives up as soon as pings would.
func TestSerialLinksAreKeptAlive(t *testing.T) {
	r := newReversible(t, 4)
	r.dialSerial(t, 2)
	r.hosting.mu.Lock()
	c := r.hosting.links[hosted(2)].conn
	r.hosting.mu.Unlock()
	if socketOption(t, c, unix.SOL_SOCKET, unix.SO_KEEPALIVE) == 0 {
		t.Error("the kernel asks nothing")
	}
	idle := socketOption(t, c, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE)
	interval := socketOption(t, c, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL)
	count := socketOption(t, c, unix.IPPROTO_TCP, unix.TCP_KEEPCNT)
	if given := time.Duration(idle+interval*count) * time.Second; given != pingAfter+pingTimeout {
		t.Errorf("the kernel gives up after %v, want %v", given, pingAfter+pingTimeout)
	}
}

// socketOption is what the kernel has for an option of the socket of an accepted connection.
func socketOption(t *testing.T, c net.Conn, level, option int) (value int) {
	t.Helper()
	raw, err := c.(*conn).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if control := raw.Control(func(fd uintptr) {
		value, err = unix.GetsockoptInt(int(fd), level, option)
	}); control != nil || err != nil {
		t.Fatal(control, err)
	}
	return value
}

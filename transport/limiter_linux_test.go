package transport

import (
	"net"
	"testing"

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
	raw, err := c.(*conn).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]int{"receive": unix.SO_RCVBUF, "send": unix.SO_SNDBUF} {
		var size int
		if control := raw.Control(func(fd uintptr) {
			size,
				err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, option)
		}); control != nil || err != nil {
			t.Fatal(control, err)
		}
		if size <= 0 || size > 2*socketBytes { // the kernel takes it twice, for its own needs
			t.Errorf("the kernel keeps %d bytes to %s", size, name)
		}
	}
}

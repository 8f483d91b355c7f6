package daemon

import (
	"fmt"
	"net"

	"feedex/control"
)

// listenerSet is where a node listens.
type listenerSet struct{ peers, reader, control net.Listener }

func (l *listenerSet) close() {
	for _, ln := range []net.Listener{l.peers, l.reader, l.control} {
		if ln != nil {
			ln.Close()
		}
	}
}

// listen has the node listen.
func listen(c *Config) (*listenerSet, error) {
	var l listenerSet
	var err error
	if c.Listen != ListenNone {
		if l.peers, err = listenTCP("neighbors", "--listen", c.Listen); err != nil {
			return nil, err
		}
	}
	if l.reader, err = listenTCP("feed readers", "--reader", c.Reader); err != nil {
		l.close()
		return nil, err
	}
	if l.control, err = control.Listen(c.Data); err != nil {
		l.close()
		return nil, err
	}
	return &l, nil
}

func listenTCP(whom, flag, address string) (net.Listener, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w; choose another address with %s", whom, err, flag)
	}
	return ln, nil
}

// portOf is the port at which ln listens.
func portOf(ln net.Listener) uint16 {
	return uint16(ln.Addr().(*net.TCPAddr).Port)
}

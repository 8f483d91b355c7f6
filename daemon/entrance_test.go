package daemon

import (
	"net"
	"testing"
)

type listenerAt struct {
	net.Listener
	ip string
}

func (l listenerAt) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(l.ip)} }

// Readers need no password where only this machine can connect, and one everywhere else.
func TestEntrance(t *testing.T) {
	for ip, open := range map[string]bool{"127.0.0.1": true, "127.0.0.53": true, "::1": true, "0.0.0.0": false, "::": false, "192.168.1.2": false, "": false} {
		if got := new(host).entrance(listenerAt{ip: ip}, nil); (got == nil) != open {
			t.Errorf("%q: entrance %v, want everybody let in: %v", ip, got, open)
		}
	}
}

package transport

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"

	"feedex/protocol"
)

// Trackers are asked by IPv6 and IPv4 in turn, each for itself, and by what there is where there is no way by the one;
// nodes are called by whichever their address is of.
func TestTrackersAreAskedByEachVersionOfIP(t *testing.T) {
	c := NewClient(ClientConfig{Port: 7790})
	var dialled []string
	lacks := "tcp4"
	c.transport.DialContext = inTurn(func(_ context.Context, network, _ string) (net.Conn, error) {
		dialled = append(dialled, network)
		if network == lacks {
			return nil, errors.New("no route to host")
		}
		near, far := net.Pipe()
		far.Close()
		return near, nil
	})
	const one, other, peer = "http://tracker.example:7788/", "http://tracker.example.org/", "192.0.2.7:7790"
	for i, call := range []struct {
		to   string
		want []string
	}{
		{one, []string{"tcp6"}},
		{other, []string{"tcp6"}},
		{one, []string{"tcp4", "tcp"}},
		{peer, []string{"tcp"}},
		{one, []string{"tcp6"}},
		{other, []string{"tcp4", "tcp"}},
	} {
		dialled = nil
		if _, err := c.Call(deadline(t), call.to, "", protocol.GetNeighbors{}); err == nil {
			t.Fatal("nobody is there, and it is answered")
		}
		if !slices.Equal(dialled, call.want) {
			t.Errorf("call %d, to %s: dialled by %q, want %q", i, call.to, dialled, call.want)
		}
	}
}

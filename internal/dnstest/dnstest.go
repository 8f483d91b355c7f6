// Package dnstest has a DNS server for tests.
package dnstest

import (
	"context"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Resolver starts a DNS server on loopback and returns a resolver that asks it. answer says, one question after the
// other, what a name has of a type, and whether there is such a name at all; names come in lower case and without the
// last dot.
func Resolver(t *testing.T,
	answer func(name string, of dnsmessage.Type) ([]dnsmessage.ResourceBody, bool)) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m = dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true},
				Questions: m.Questions}
			bodies, ok := answer(strings.ToLower(strings.TrimSuffix(q.Name.String(), ".")), q.Type)
			if !ok {
				m.RCode = dnsmessage.RCodeNameError
			}
			for _, body := range bodies {
				m.Answers = append(m.Answers, dnsmessage.Resource{Body: body,
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}})
			}
			if packed, err := m.Pack(); err == nil {
				conn.WriteTo(packed, from)
			}
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"feedex/guard"
)

// unreached reports whether a request failed in a way in which all requests fail while our own network is
// down: no name server answers, there is no route, or nobody takes the connection. A name that does not
// exist, a refused connection and one that breaks off are the publisher's: somebody answered. But macOS and Windows say
// of every name that it does not exist while there is no network. And who has no certificate of the publisher's is
// somebody else, as in a network with a login.
func unreached(err error, connected bool, system string) bool {
	if connected || errors.Is(err, guard.ErrForbidden) || errors.Is(err, context.Canceled) {
		return false
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return !dns.IsNotFound || system == "darwin" || system == "windows"
	}
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		return true
	}
	switch {
	case isOf(err, refused), isOf(err, brokenOff):
		return false
	case errors.Is(err, context.DeadlineExceeded):
		return true
	}
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && op.Op == "dial"
}

package fetch

import (
	"context"
	"errors"
	"net"

	"feedex/guard"
)

// unreached reports whether a request failed in a way in which all requests fail while our own network is
// down: no name server answers, there is no route, or nobody takes the connection. A name that does not
// exist, a refused connection and one that breaks off are the publisher's: somebody answered.
func unreached(err error, connected bool) bool {
	if connected || errors.Is(err, guard.ErrForbidden) || errors.Is(err, context.Canceled) {
		return false
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return !dns.IsNotFound
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

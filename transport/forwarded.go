package transport

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

var errForwarded = errors.New("the proxy does not say plainly from whom the request comes")

// Caller is the address from which r comes: that of the connection, unless it belongs to a trusted
// proxy that names another. Everybody can write such a header, so nobody else is believed.
func Caller(r *http.Request, proxies []netip.Prefix) (netip.Addr, error) {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, errors.New("the connection has no IP address")
	}
	peer := ap.Addr().Unmap()
	if !trusted(proxies, peer) {
		return peer, nil
	}
	forwarded, err := chain(r.Header.Values("Forwarded"), forParam)
	if err != nil {
		return netip.Addr{}, err
	}
	xForwarded, err := chain(r.Header.Values("X-Forwarded-For"), strings.TrimSpace)
	if err != nil {
		return netip.Addr{}, err
	}
	a, b := client(proxies, forwarded, peer), client(proxies, xForwarded, peer)
	switch {
	case len(xForwarded) == 0:
		return a, nil
	case len(forwarded) == 0 || a == b:
		return b, nil
	}
	// A proxy writes one of the two and passes on what the client wrote into the other.
	return netip.Addr{}, errForwarded
}

// client is the last address of the chain that is no trusted proxy's: those before it are hearsay.
func client(proxies []netip.Prefix, chain []netip.Addr, peer netip.Addr) netip.Addr {
	for _, a := range slices.Backward(chain) {
		if peer = a; !trusted(proxies, a) {
			break
		}
	}
	return peer
}

func trusted(proxies []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// chain reads the addresses of a list header, first hop first; node finds the address in an element.
func chain(values []string, node func(string) string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	for _, value := range values {
		for element := range strings.SplitSeq(value, ",") {
			a, err := parseNode(node(element))
			if err != nil {
				return nil, errForwarded
			}
			addrs = append(addrs, a)
		}
	}
	return addrs, nil
}

// forParam is the value of "for" in an element of Forwarded (RFC 7239 §4), "" if there is none.
func forParam(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// parseNode reads an address with or without a port, brackets around IPv6 or not (RFC 7239 §6).
func parseNode(text string) (netip.Addr, error) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap(), nil
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return a.Unmap(), err
}

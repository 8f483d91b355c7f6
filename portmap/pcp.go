package portmap

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// The packets of PCP (RFC 6887): a header (§7.1, §7.2) and the data of MAP (§11.1).
const (
	pcpVersion = 2
	pcpMap     = 1
	response   = 0x80 // in the byte of the opcode, in both protocols
	tcp        = 6
	pcpHeader  = 24
	pcpPacket  = pcpHeader + 36
	maxAnswer  = 1100 // bytes (§7)
)

// byPCP asks for a mapping by PCP. The error is errOlder where the router knows NAT-PMP alone.
func (k *keeper) byPCP(ctx context.Context, conn *net.UDPConn, lifetime time.Duration) (m mapping, err error) {
	request := k.pcpRequest(addrOf(conn.LocalAddr()), addrOf(conn.RemoteAddr()), lifetime)
	answer, err := k.exchange(ctx, conn, request, func(a []byte) bool {
		if len(a) >= 4 && a[0] == natPMPVersion && a[1]&response != 0 {
			return true // RFC 6887 appendix A
		}
		return len(a) >= pcpPacket && a[0] == pcpVersion && a[1] == response|pcpMap &&
			bytes.Equal(a[pcpHeader:pcpHeader+18], request[pcpHeader:pcpHeader+18])
	})
	switch {
	case err != nil:
		return m, err
	case answer[0] == natPMPVersion:
		return m, errOlder
	case answer[3] != 0:
		return m, refused(pcpRefusals(), int(answer[3]))
	}
	m.lifetime = time.Duration(binary.BigEndian.Uint32(answer[4:])) * time.Second
	body := answer[pcpHeader:]
	address := netip.AddrFrom16([16]byte(body[20:36])).Unmap()
	m.external = netip.AddrPortFrom(address, binary.BigEndian.Uint16(body[18:]))
	return m, nil
}

// pcpRequest writes a MAP request of a machine to a router. It suggests the same port outside, and any address (§11.1).
// Each router has a nonce of its own (§11.2).
func (k *keeper) pcpRequest(machine, router netip.Addr, lifetime time.Duration) []byte {
	p := make([]byte, pcpPacket)
	p[0], p[1] = pcpVersion, pcpMap
	binary.BigEndian.PutUint32(p[4:], uint32(lifetime/time.Second))
	from, outside := machine.As16(), netip.IPv6Unspecified().As16()
	if machine.Is4() {
		outside = netip.IPv4Unspecified().As16()
	}
	copy(p[8:], from[:])
	body := p[pcpHeader:]
	nonce := sha256.Sum256(append(k.config.Secret[:], router.String()...))
	copy(body[:12], nonce[:])
	body[12] = tcp
	binary.BigEndian.PutUint16(body[16:], k.config.Port)
	if lifetime > 0 {
		binary.BigEndian.PutUint16(body[18:], k.config.Port)
	}
	copy(body[20:], outside[:])
	return p
}

// refused is the error of a result that is not success.
func refused(meanings []string, code int) error {
	if code < len(meanings) && meanings[code] != "" {
		return fmt.Errorf("refuses: %s", meanings[code])
	}
	return fmt.Errorf("refuses, by code %d", code)
}

// pcpRefusals are what the results of PCP mean (§7.4), by code.
func pcpRefusals() []string {
	return []string{
		1:  "it does not know this version of PCP",
		2:  "it opens no port for any machine, or not for this one",
		3:  "it takes the request for malformed",
		4:  "it opens no ports by PCP",
		7:  "it has no connection outside",
		8:  "it can open no more ports",
		9:  "it opens no ports of TCP",
		10: "this machine has as many ports open as it may",
		11: "the port outside is taken",
		12: "there is another router between it and this machine",
	}
}

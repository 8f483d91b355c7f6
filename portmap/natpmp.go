package portmap

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"time"
)

// The packets of NAT-PMP (RFC 6886 §3.2, §3.3).
const (
	natPMPVersion = 0
	natPMPAddress = 0
	natPMPMapTCP  = 2
)

// byNATPMP asks for a mapping by NAT-PMP: for the mapping first, and then for the address outside.
func (k *keeper) byNATPMP(ctx context.Context, conn *net.UDPConn, lifetime time.Duration) (m mapping, err error) {
	request := make([]byte, 12)
	request[0], request[1] = natPMPVersion, natPMPMapTCP
	binary.BigEndian.PutUint16(request[4:], k.config.Port)
	if lifetime > 0 {
		binary.BigEndian.PutUint16(request[6:], k.config.Port)
	}
	binary.BigEndian.PutUint32(request[8:], uint32(lifetime/time.Second))
	answer, err := k.exchangeNATPMP(ctx, conn, request, 16, func(a []byte) bool {
		return binary.BigEndian.Uint16(a[8:]) == k.config.Port
	})
	if err != nil || lifetime == 0 {
		return m, err
	}
	port := binary.BigEndian.Uint16(answer[10:])
	m.lifetime = time.Duration(binary.BigEndian.Uint32(answer[12:])) * time.Second
	request = []byte{natPMPVersion, natPMPAddress}
	answer, err = k.exchangeNATPMP(ctx, conn, request, 12, func([]byte) bool { return true })
	if err != nil {
		return m, err
	}
	m.external = netip.AddrPortFrom(netip.AddrFrom4([4]byte(answer[8:12])), port)
	return m, nil
}

// exchangeNATPMP makes a request and returns the answer, of so many bytes.
func (k *keeper) exchangeNATPMP(ctx context.Context, conn *net.UDPConn, request []byte, size int,
	ours func([]byte) bool) ([]byte, error) {
	answer, err := k.exchange(ctx, conn, request, func(a []byte) bool {
		if len(a) < 4 || a[0] != natPMPVersion || a[1] != response|request[1] {
			return false
		}
		return binary.BigEndian.Uint16(a[2:]) != 0 || len(a) >= size && ours(a) // a refusal may be short
	})
	if err != nil {
		return nil, err
	}
	if code := int(binary.BigEndian.Uint16(answer[2:])); code != 0 {
		return nil, refused(natPMPRefusals(), code)
	}
	return answer, nil
}

// natPMPRefusals are what the results of NAT-PMP mean (§3.5), by code.
func natPMPRefusals() []string {
	return []string{
		1: "it does not know this version of NAT-PMP",
		2: "it lets no machine have ports forwarded, or not this one",
		3: "it has no connection outside",
		4: "it can forward no more ports",
		5: "it forwards no ports by NAT-PMP",
	}
}

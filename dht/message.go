package dht

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// What is taken of one answer at most.
const (
	maxNodes  = 16  // that are nearer; BEP 5 has eight
	maxValues = 100 // addresses
	maxToken  = 64  // bytes of a token; more is none
)

// compact is how many bytes an address and its port take (BEP 5, "Contact Encoding"), of IPv4.
const compact = 6

// A reply is what is of use in the answer to a question.
type reply struct {
	id      Key // of whoever answers
	refused bool
	token   string           // to be sent with an announcement; "" for none
	nodes   []contact        // that are nearer
	values  []netip.AddrPort // that were announced
}

// question writes a packet that asks something. It says that nobody need ask back (BEP 43).
func question(transaction, method string, args dict) []byte {
	return encode(nil, dict{"t": transaction, "y": "q", "q": method, "a": args, "ro": 1})
}

// parseReply reads an answer, and which question it is for. The error wraps ErrPacket.
func parseReply(packet []byte) (transaction string, r reply, err error) {
	top, err := decode(packet)
	if err != nil {
		return "", r, err
	}
	transaction, _ = top["t"].(string)
	switch top["y"] {
	case "e":
		r.refused = true
		return transaction, r, nil
	case "r":
	default:
		return "", r, fmt.Errorf("%w: not an answer", ErrPacket)
	}
	body, _ := top["r"].(dict)
	id, _ := body["id"].(string)
	if len(id) != len(r.id) {
		return "", r, fmt.Errorf("%w: an id of %d bytes", ErrPacket, len(id))
	}
	copy(r.id[:], id)
	if token, _ := body["token"].(string); len(token) <= maxToken {
		r.token = token
	}
	nodes, _ := body["nodes"].(string)
	if len(nodes)%(len(r.id)+compact) != 0 {
		return "", r, fmt.Errorf("%w: nodes of %d bytes", ErrPacket, len(nodes))
	}
	for ; len(nodes) > 0 && len(r.nodes) < maxNodes; nodes = nodes[len(r.id)+compact:] {
		r.nodes = append(r.nodes, contact{id: Key([]byte(nodes[:len(r.id)])), at: address(nodes[len(r.id):][:compact])})
	}
	values, _ := body["values"].([]any)
	for _, v := range values[:min(len(values), maxValues)] {
		if s, _ := v.(string); len(s) == compact {
			r.values = append(r.values, address(s))
		}
	}
	return transaction, r, nil
}

// address reads an address and its port.
func address(s string) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte([]byte(s[:4]))), binary.BigEndian.Uint16([]byte(s[4:])))
}

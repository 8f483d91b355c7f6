package feed

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
)

// MaxClients is the most clients that are read from a feed document.
const MaxClients = 50

// ClientsSpace is the XML namespace of the list of clients in a feed document.
//
// # Clients listed by a publisher
//
// Paper §3.1 names three sources from which a node learns of others. The second is the feed itself:
// "the feed servers may append to a feed document a list of clients that have recently retrieved the
// same feed". This is the form of that list.
//
// In RSS the list is a child of channel, in Atom a child of feed, best before the first entry:
//
//	<fx:clients xmlns:fx="urn:feedex:clients:1">
//	  <fx:node>192.0.2.7:7790</fx:node>
//	  <fx:node>[2001:db8::7]:7790</fx:node>
//	</fx:clients>
//
// In JSON Feed it is an extension object at the top level:
//
//	"_feedex": {"clients": ["192.0.2.7:7790", "[2001:db8::7]:7790"]}
//
// Each node is an IP address and the port of its XML-RPC listener: "a.b.c.d:port", or
// "[address]:port" for IPv6 (RFC 3986 §3.2.2, RFC 5952), without a zone. Host names are not allowed,
// because a name could be made to mean an address that its holder never had. White space around an
// address is ignored; whatever else is not of this form is skipped, and so is a repetition. The
// first 50 are read, the rest ignored. Elements of other names inside the list and attributes are
// ignored, so that later versions can add them; a list of a different meaning needs a different
// namespace.
//
// Publisher: list nodes that fetched this feed lately, and only those that said they want it, in
// random order and at most 50. An address taken from the connection is not enough, because it does not tell
// the port. Put the list into no document that caches keep for long.
//
// Node: a listed address is hearsay, no more than an answer to get_neighbors is. The guards against
// private addresses, low ports and floods toward a third party apply before anything is dialled.
const ClientsSpace = "urn:feedex:clients:1"

// inClients reports whether the walk is directly inside a clients element.
func (w *walk) inClients() bool {
	return len(w.open) > 1 && w.open[len(w.open)-1].clients
}

// readClient takes in a node element inside a clients element.
func (w *walk) readClient(e *element, t token) {
	if e.local != "node" || t.empty || w.space(e.prefix) != ClientsSpace {
		return
	}
	text, _, _ := strings.Cut(w.src[t.to:], "<")
	w.clients = addClient(w.clients, text)
}

// addClient appends the client to the list if it is well-formed and new and there is room.
func addClient(clients []string, text string) []string {
	addr, err := netip.ParseAddrPort(strings.TrimSpace(text))
	if err != nil || addr.Port() == 0 || addr.Addr().Zone() != "" || len(clients) == MaxClients {
		return clients
	}
	canonical := netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()).String()
	if slices.Contains(clients, canonical) {
		return clients
	}
	return append(clients, canonical)
}

// jsonClients reads the clients of a JSON Feed, which gofeed does not keep.
func jsonClients(text string) (clients []string) {
	if !strings.Contains(text, `"_feedex"`) {
		return nil
	}
	var doc struct {
		Feedex struct {
			Clients []string `json:"clients"`
		} `json:"_feedex"`
	}
	if json.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	for _, text := range doc.Feedex.Clients {
		clients = addClient(clients, text)
	}
	return clients
}

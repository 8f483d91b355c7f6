// Package reach says in words whether and how others reach a node, and what its owner could do about it.
package reach

import (
	"fmt"
	"net/netip"

	"feedex/feed"
	"feedex/protocol"
)

// Facts are what a node knows of how others reach it.
type Facts struct {
	Listen    string          `json:"listen"`        // where it listens, "host:port"; "none" for nowhere
	Self      protocol.NodeID `json:"self,omitzero"` // under which others know it; zero while it does not know
	Neighbors int             `json:"neighbors"`     // linked now
	Hosted    int             `json:"hosted"`        // of these, others cannot dial
	// HostedBytes is how many have passed over the connections of those since the node started, both ways together.
	HostedBytes int64 `json:"hosted_bytes"`
	// Undialled says that others cannot dial it, and Dialled that somebody did within the last hour. Neither says that
	// it is not known.
	Undialled bool `json:"undialled"`
	Dialled   bool `json:"dialled"`
	// Forwarding is what came of asking the router to forward the node's port, nil where it is not asked, or was not
	// yet.
	Forwarding *Forwarding `json:"forwarding,omitempty"`
	// Firewall is what came of asking it to let the port in by IPv6, likewise.
	Firewall *Forwarding `json:"firewall,omitempty"`
}

// A Forwarding is what came of asking a router to forward a port, or to let it through its firewall.
type Forwarding struct {
	Machine  netip.Addr     `json:"machine,omitzero"`   // this machine's address, as a router sees it; zero for none
	Router   netip.Addr     `json:"router,omitzero"`    // zero where the machine knows none
	Protocol string         `json:"protocol,omitempty"` // by which it forwards
	External netip.AddrPort `json:"external,omitzero"`  // where it takes what it lets in; zero for nowhere
	Problem  string         `json:"problem,omitempty"`  // why it does not, where it should
}

// Outside reports whether what comes to the External address comes from the public Internet, as far as can be told: by
// IPv4 a provider may have a router of its own in between (RFC 6598).
func (f *Forwarding) Outside() bool { return feed.PublicAddr(f.External.Addr()) }

// At is the host:port at which others reach the node, if they can: as neighbors see it or, while too few have told, as
// its router says, or by this machine's public address. It is "" while none is known.
func (f *Facts) At() string {
	listen, _ := netip.ParseAddrPort(f.Listen)
	switch by4, by6 := f.Forwarding, f.Firewall; {
	case !f.Self.IsZero():
		return f.Self.String()
	case by4 != nil && by4.Outside():
		return by4.External.String()
	case by4 != nil && feed.PublicAddr(by4.Machine) && listen.Addr().IsUnspecified():
		return netip.AddrPortFrom(by4.Machine, listen.Port()).String()
	case by6 != nil && by6.Outside():
		return by6.External.String()
	}
	return ""
}

// A Diagnosis is a fact in words, and what the owner could do about it, "" for nothing. Each is one or more sentences.
type Diagnosis struct {
	Fact   string `json:"fact"`
	Advice string `json:"advice,omitempty"`
}

// Diagnose says it all, what matters most first.
func (f *Facts) Diagnose() []Diagnosis {
	if f.offline() {
		return []Diagnosis{{Fact: "This machine seems to have no way to the Internet now: it has no address from " +
			"which it could call others."}, f.dialled()}
	}
	found := []Diagnosis{f.dialled()}
	if f.Hosted > 0 {
		text := fmt.Sprintf("It hosts %d of its %d neighbors, which others cannot dial: it calls them over "+
			"connections that they keep open", f.Hosted, f.Neighbors)
		if mb := float64(f.HostedBytes) / 1e6; mb >= .05 {
			text += fmt.Sprintf(", over which %.1f MB have passed since it started", mb)
		}
		found = append(found, Diagnosis{Fact: text + "."})
	}
	if r := f.Forwarding; r != nil && (r.Machine.IsValid() || r.Router.IsValid() || !f.has6()) {
		found = append(found, f.forwarded())
	}
	if r := f.Firewall; r != nil && (r.Problem != "" || r.External.IsValid()) {
		found = append(found, f.letIn())
	}
	return found
}

// offline reports whether nothing speaks for a way to others: neither a router nor an address of the machine for IPv4,
// none that is of use for IPv6, and nobody who came or is there. A way may lead through no router that has an address.
func (f *Facts) offline() bool {
	return f.Neighbors == 0 && !f.Dialled && f.Forwarding != nil && f.Firewall != nil &&
		*f.Forwarding == (Forwarding{Problem: f.Forwarding.Problem}) && *f.Firewall == (Forwarding{})
}

// has6 reports whether the machine has an address of IPv6 for others. One that has none of IPv4 does not want any then.
func (f *Facts) has6() bool { return f.Firewall != nil && f.Firewall.Machine.IsValid() }

// dialled says whether others can dial the node.
func (f *Facts) dialled() Diagnosis {
	const lately = "somebody did within the last hour."
	at, err := netip.ParseAddrPort(f.Listen)
	switch {
	case err != nil:
		return Diagnosis{"Nobody can dial this node, as it listens nowhere: neighbors call it over connections that " +
			"it keeps open to them.",
			"If others could dial it, it could host some of them: see listen in 'feedex config'."}
	case at.Addr().IsLoopback():
		return Diagnosis{"Only programs on this machine can dial this node: it listens at " + f.Listen + ".",
			fmt.Sprintf("For others, have it listen at \":%d\": see listen in 'feedex config'.", at.Port())}
	case f.Undialled:
		return Diagnosis{Fact: "Others cannot dial this node: neighbors call it over connections that it keeps open " +
			"to them. It takes part as well as others do, and hosts nobody."}
	case f.Dialled && !f.Self.IsZero():
		return Diagnosis{Fact: "Others can dial this node, at " + f.Self.String() + ": " + lately}
	case f.Dialled:
		return Diagnosis{Fact: "Others can dial this node: " + lately}
	}
	if f.Neighbors == 0 {
		return Diagnosis{"Whether others can dial this node is not known: it has no neighbors.",
			"Have it find some: 'feedex join' takes an invitation, a site or a tracker, as --tracker does."}
	}
	return Diagnosis{Fact: "Whether others can dial this node is not known: nobody did within the last hour."}
}

// forwarded says what came of asking the router.
func (f *Facts) forwarded() Diagnosis {
	r := f.Forwarding
	at, _ := netip.ParseAddrPort(f.Listen)
	open := Diagnosis{
		Advice: fmt.Sprintf("Let TCP port %d in through this machine's firewall, if it has one.", at.Port()),
	}
	switch {
	case feed.PublicAddr(r.Machine):
		open.Fact = fmt.Sprintf("This machine has a public address, %s: no router has to forward anything.", r.Machine)
	case !r.Router.IsValid():
		open.Fact = "No router is asked to forward the node's port: " + r.Problem + "."
		open.Advice = fmt.Sprintf("If it has one, forward TCP port %d to this machine on it, or let that port in "+
			"through a firewall.", at.Port())
	case !r.External.IsValid():
		d := Diagnosis{Fact: "The router does not forward the node's port when asked: " + r.Problem + "."}
		if f.Dialled { // it may at its owner's word
			return d
		}
		forward := fmt.Sprintf("forward TCP port %d to this machine", at.Port())
		if r.Machine.IsValid() {
			forward += fmt.Sprintf(", %s,", r.Machine)
		}
		d.Advice = "Switch on PCP or NAT-PMP on the router (or UPnP: see port_mapping in 'feedex config'), or " +
			forward + " on it."
		return d
	case !r.Outside() || f.Self.Addr().Is4() && r.External.Addr() != f.Self.Addr():
		between := fmt.Sprintf("The router, %s, forwards the node's port by %s, but its own address, %s, is not the "+
			"one by which others see it", r.Router, r.Protocol, r.External.Addr())
		if f.Self.Addr().Is4() {
			between += ", " + f.Self.Addr().String()
		}
		if between += ":"; r.Outside() {
			between += " that changed a moment ago, or"
		}
		return Diagnosis{between + " your provider has a router of its own in between (carrier-grade NAT), which " +
			"lets nobody in.", "Nothing has to be done. Some providers give a public address of your own if asked."}
	default:
		open.Fact = fmt.Sprintf("The router, %s, forwards the node's port by %s%s.", r.Router, r.Protocol, f.at(r))
	}
	if !f.Undialled {
		open.Advice = ""
	}
	return open
}

// at says what an open port is worth.
func (f *Facts) at(r *Forwarding) string {
	if f.Undialled {
		return fmt.Sprintf(", and yet nobody gets in at %s", r.External)
	}
	return fmt.Sprintf(": others reach it at %s", r.External)
}

// letIn says what came of asking the router to let the port in by IPv6.
func (f *Facts) letIn() Diagnosis {
	r := f.Firewall
	at, _ := netip.ParseAddrPort(f.Listen)
	if r.External.IsValid() {
		d := Diagnosis{Fact: fmt.Sprintf("The router, %s, lets the node's port in by IPv6, as asked by %s%s.",
			r.Router, r.Protocol, f.at(r))}
		if f.Undialled {
			d.Advice = fmt.Sprintf("Let TCP port %d in through this machine's firewall, if it has one.", at.Port())
		}
		return d
	}
	d := Diagnosis{Fact: "The router does not let the node's port in by IPv6 when asked: " + r.Problem + "."}
	if f.Dialled {
		return d
	}
	to := ""
	if m := r.Machine; m.IsValid() && at.Addr().IsUnspecified() {
		to = ", " + m.String() + ","
	} else if m.IsValid() {
		to = ", " + at.Addr().String() + ","
	}
	d.Advice = fmt.Sprintf("If it has a firewall, switch on PCP there, or let TCP port %d in to this machine%s on it.",
		at.Port(), to)
	return d
}

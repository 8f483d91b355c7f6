package portmap

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/huin/goupnp"
	"github.com/huin/goupnp/soap"
	"golang.org/x/net/html/charset"
)

// The bounds on what a router may cost that is asked by UPnP.
const (
	upnpPatience = 10 * time.Second // for all of it
	maxUPnPBytes = 256 << 10        // of an answer; descriptions of routers have some 10 kB
	ssdpPort     = 1900             // where devices hear who looks for them (UPnP Device Architecture 1.1 §1.3.2)
)

// igdServices are those that forward ports (UPnP Forum, WANIPConnection:2 and before), best first.
func igdServices() []string {
	return []string{
		"urn:schemas-upnp-org:service:WANIPConnection:2",
		"urn:schemas-upnp-org:service:WANIPConnection:1",
		"urn:schemas-upnp-org:service:WANPPPConnection:1",
	}
}

// errNoUPnP means that the router does not say where it is to be asked.
var errNoUPnP = errors.New("answers neither PCP, NAT-PMP nor UPnP")

// byUPnP asks for a mapping by UPnP's Internet Gateway Device. Only the router is asked, wherever else what it says
// leads: other devices of the home may answer who looks for it as well.
func (k *keeper) byUPnP(ctx context.Context, router, machine netip.Addr, lifetime time.Duration) (mapping, error) {
	ctx, cancel := context.WithTimeout(ctx, upnpPatience)
	defer cancel()
	location, err := k.search(ctx, router, machine)
	if err != nil {
		return mapping{}, err
	}
	g := &igd{client: routerClient(router)}
	defer g.client.CloseIdleConnections()
	if err := g.describe(ctx, location); err != nil {
		return mapping{}, err
	}
	if lifetime == 0 {
		return mapping{}, g.unmap(ctx, k.config.Port)
	}
	defer func() {
		if ctx.Err() != nil { // before it said what it did, which may be to forward the port for ever
			k.opened = router
		}
	}()
	m := mapping{lifetime: lifetime}
	err = g.mapTCP(ctx, machine, k.config.Port, lifetime)
	if refusal := (*soap.SOAPFaultError)(nil); errors.As(err, &refusal) &&
		refusal.Detail.UPnPError.Errorcode == onlyPermanent {
		err = g.mapTCP(ctx, machine, k.config.Port, 0)
	}
	if err != nil {
		return mapping{}, upnpRefused(err)
	}
	address, err := g.address(ctx)
	if err != nil {
		_ = g.unmap(ctx, k.config.Port) // of what does not say where it takes it
		return mapping{}, upnpRefused(err)
	}
	m.external = netip.AddrPortFrom(address, k.config.Port)
	return m, nil
}

// searchSSDP asks for gateways and returns where the router describes itself. It is asked at its own address too, as
// not every network carries what is sent to many. The error is errNoUPnP where it does not answer.
func searchSSDP(ctx context.Context, router, machine netip.Addr) (*url.URL, error) {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(machine, 0)))
	if err != nil {
		return nil, fmt.Errorf("cannot be looked for by UPnP: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
	everybody := netip.AddrFrom4([4]byte{239, 255, 255, 250})
	for wait := firstWait; wait < firstWait<<tries && ctx.Err() == nil; wait *= 2 {
		for _, at := range []netip.Addr{everybody, router} {
			to := netip.AddrPortFrom(at, ssdpPort)
			_, _ = conn.WriteToUDPAddrPort(searchFor(to), to) // who hears nothing of it does not answer
		}
		conn.SetReadDeadline(time.Now().Add(wait))
		if location := readLocation(ctx, conn, router); location != nil {
			return location, nil
		}
	}
	return nil, cmp.Or(ctx.Err(), errNoUPnP)
}

// searchFor is the question for gateways of either version: one of version 2 answers to version 1 as well.
func searchFor(at netip.AddrPort) []byte {
	return fmt.Appendf(nil, "M-SEARCH * HTTP/1.1\r\nHOST: %s\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\n"+
		"ST: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\n\r\n", at)
}

// readLocation reads answers until one of the router says where it describes itself, and returns nil at the deadline.
func readLocation(ctx context.Context, conn *net.UDPConn, router netip.Addr) *url.URL {
	data := make([]byte, 2048)
	for ctx.Err() == nil {
		n, from, err := conn.ReadFromUDPAddrPort(data)
		if err != nil {
			return nil
		}
		if from.Addr().Unmap() != router {
			continue
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data[:n])), nil)
		if err != nil {
			continue
		}
		resp.Body.Close()
		if location, err := resp.Location(); err == nil && location.Scheme == "http" {
			return location
		}
	}
	return nil
}

// routerClient makes requests of the router alone, whatever host their URLs name, and reads no more than a bounded
// answer.
func routerClient(router netip.Addr) *http.Client {
	return &http.Client{
		Transport: boundedAnswers{&http.Transport{
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				_, port, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				var d net.Dialer
				return d.DialContext(ctx, "tcp4", net.JoinHostPort(router.String(), port))
			},
			MaxResponseHeaderBytes: maxUPnPBytes,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// boundedAnswers has the bodies of answers end after maxUPnPBytes.
type boundedAnswers struct{ *http.Transport }

func (b boundedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxUPnPBytes), resp.Body}
	}
	return resp, err
}

// An igd is the service of a router by which it forwards ports.
type igd struct {
	client  *http.Client
	service string
	soap    *soap.SOAPClient
}

// describe reads how the router describes itself, and finds the service.
func (g *igd) describe(ctx context.Context, at *url.URL) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return errNoUPnP
	}
	resp, err := g.client.Do(request)
	if err != nil {
		return errors.New("says where it describes itself by UPnP, and does not answer there")
	}
	defer resp.Body.Close()
	var root goupnp.RootDevice
	reading := xml.NewDecoder(resp.Body)
	reading.DefaultSpace, reading.CharsetReader = goupnp.DeviceXMLNamespace, charset.NewReaderLabel
	if err := reading.Decode(&root); err != nil || resp.StatusCode != http.StatusOK {
		return errors.New("describes itself by UPnP in what cannot be read")
	}
	base := at
	if named, err := url.Parse(root.URLBaseStr); err == nil && root.URLBaseStr != "" {
		base = named
	}
	root.SetURLBase(base)
	found := -1
	root.Device.VisitServices(func(s *goupnp.Service) {
		rank := slices.Index(igdServices(), s.ServiceType)
		if rank >= 0 && s.ControlURL.Ok && s.ControlURL.URL.Scheme == "http" && (found < 0 || rank < found) {
			found, g.service, g.soap = rank, s.ServiceType, s.NewSOAPClient()
		}
	})
	if found < 0 {
		return errors.New("knows UPnP, and forwards no ports by it")
	}
	g.soap.HTTPClient = *g.client
	return nil
}

// mapTCP has a port forwarded to the machine, for ever where the lifetime is 0.
func (g *igd) mapTCP(ctx context.Context, machine netip.Addr, port uint16, lifetime time.Duration) error {
	return g.soap.PerformActionCtx(ctx, g.service, "AddPortMapping", &struct {
		NewRemoteHost, NewExternalPort, NewProtocol, NewInternalPort, NewInternalClient, NewEnabled,
		NewPortMappingDescription, NewLeaseDuration string
	}{"", number(port), "TCP", number(port), machine.String(), "1", "feedex", number(lifetime / time.Second)}, nil)
}

// unmap has a port forwarded no more.
func (g *igd) unmap(ctx context.Context, port uint16) error {
	return g.soap.PerformActionCtx(ctx, g.service, "DeletePortMapping",
		&struct{ NewRemoteHost, NewExternalPort, NewProtocol string }{"", number(port), "TCP"}, nil)
}

// address is the router's outside, not valid where it has none.
func (g *igd) address(ctx context.Context) (netip.Addr, error) {
	var got struct{ NewExternalIPAddress string }
	if err := g.soap.PerformActionCtx(ctx, g.service, "GetExternalIPAddress", nil, &got); err != nil {
		return netip.Addr{}, err
	}
	address, _ := netip.ParseAddr(got.NewExternalIPAddress)
	return address, nil
}

func number[T uint16 | time.Duration](n T) string { return strconv.FormatUint(uint64(n), 10) }

// onlyPermanent is the code of routers that forward a port until they are told otherwise, or not at all.
const onlyPermanent = 725

// upnpRefused says what the error of an action means, by the code that the router gave it. What it says in words is
// not passed on.
func upnpRefused(err error) error {
	refusal := (*soap.SOAPFaultError)(nil)
	if !errors.As(err, &refusal) {
		return errors.New("does not answer by UPnP as it says that it would")
	}
	switch code := refusal.Detail.UPnPError.Errorcode; code {
	case 606:
		return errors.New("refuses: it lets no machine have ports forwarded, or not this one")
	case 718, 729:
		return errors.New("refuses: the port outside is taken")
	case 728:
		return errors.New("refuses: it can forward no more ports")
	default:
		return fmt.Errorf("refuses, by code %d of UPnP", code)
	}
}

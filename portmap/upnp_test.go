package portmap

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"feedex/reach"
)

// A gatewayDevice describes itself at /desc.xml and takes actions at /ctl, as routers with UPnP do.
type gatewayDevice struct {
	server *httptest.Server
	desc   func(w http.ResponseWriter) // in place of its description
	asked  func(action string)         // hears of an action first, where it is set
	fault  map[string]int              // the code with which it refuses an action, onlyPermanent once
	calls  []string                    // action and arguments
}

func newGatewayDevice(t *testing.T) *gatewayDevice {
	g := &gatewayDevice{fault: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/desc.xml", func(w http.ResponseWriter, _ *http.Request) {
		if g.desc != nil {
			g.desc(w)
			return
		}
		io.WriteString(w, description(g.server.URL, "urn:schemas-upnp-org:service:WANIPConnection:1"))
	})
	mux.HandleFunc("/ctl", g.act)
	g.server = httptest.NewServer(mux)
	t.Cleanup(g.server.Close)
	return g
}

// act takes an action: it notes what is asked, and refuses or answers.
func (g *gatewayDevice) act(w http.ResponseWriter, r *http.Request) {
	_, action, _ := strings.Cut(strings.Trim(r.Header.Get("SOAPACTION"), `"`), "#")
	body, _ := io.ReadAll(r.Body)
	text := string(body)
	call := action
	for _, name := range []string{"NewExternalPort", "NewProtocol", "NewInternalPort", "NewInternalClient",
		"NewLeaseDuration"} {
		if _, after, ok := strings.Cut(text, "<"+name+">"); ok {
			value, _, _ := strings.Cut(after, "<")
			call += " " + value
		}
	}
	g.calls = append(g.calls, call)
	if g.asked != nil {
		g.asked(action)
	}
	answer := ""
	if action == "GetExternalIPAddress" {
		answer = "<NewExternalIPAddress>203.0.113.9</NewExternalIPAddress>"
	}
	inner := fmt.Sprintf(`<u:%sResponse xmlns:u="urn:x">%s</u:%sResponse>`, action, answer, action)
	if code := g.fault[action]; code != 0 {
		if code == onlyPermanent {
			delete(g.fault, action)
		}
		w.WriteHeader(http.StatusInternalServerError)
		inner = fmt.Sprintf(`<s:Fault><faultcode>s:Client</faultcode><faultstring>UPnPError</faultstring><detail>`+
			`<UPnPError xmlns="urn:schemas-upnp-org:control-1-0"><errorCode>%d</errorCode></UPnPError>`+
			`</detail></s:Fault>`, code)
	}
	fmt.Fprintf(w, `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" `+
		`s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>%s</s:Body></s:Envelope>`, inner)
}

// description is how a router describes itself that has the service below two devices, as is usual, and whose maker
// writes in Latin-1.
func description(base, service string) string {
	return `<?xml version="1.0" encoding="ISO-8859-1"?><root xmlns="urn:schemas-upnp-org:device-1-0"><URLBase>` + base + `</URLBase><device>
<deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType><deviceList><device><deviceList><device>
<serviceList><service><serviceType>` + service + `</serviceType><controlURL>/ctl</controlURL></service></serviceList>
</device></deviceList></device></deviceList></device></root>`
}

// keeper keeps port 7790 forwarded by the device.
func (g *gatewayDevice) keeper(t *testing.T, told *[]reach.Forwarding) *keeper {
	k := newFakeRouter(t, func([]byte) [][]byte { return nil }).keeper(told)
	k.config.UPnP, k.wait = true, time.Hour // of the other protocols, which are not asked
	k.search = func(context.Context, netip.Addr, netip.Addr) (*url.URL, error) {
		return url.Parse(g.server.URL + "/desc.xml")
	}
	return k
}

// A router forwards the port by UPnP, for as long as it is asked to, and is told at the end to do so no more.
func TestForwardsByUPnP(t *testing.T) {
	g := newGatewayDevice(t)
	var told []reach.Forwarding
	k := g.keeper(t, &told)
	k.look(t.Context(), now)
	want := reach.Forwarding{Machine: loopback, Router: loopback, Protocol: "UPnP", External: outside}
	if !slices.Equal(told, []reach.Forwarding{want}) {
		t.Fatalf("told %+v, want %+v", told, want)
	}
	k.look(t.Context(), now.Add(lease/2))
	k.end(t.Context())
	asked := []string{"AddPortMapping 7790 TCP 7790 127.0.0.1 1200", "GetExternalIPAddress"}
	if want := append(append(asked, asked...), "DeletePortMapping 7790 TCP"); !slices.Equal(g.calls, want) {
		t.Errorf("asked %q, want %q", g.calls, want)
	}

}

// A router that is asked as the node ends may have done what it was asked, and is told to do so no more. Where nothing
// was asked yet, the port outside may be another machine's, and stays as it is.
func TestEndsWhileItAsksByUPnP(t *testing.T) {
	const add, remove = "AddPortMapping 7790 TCP 7790 127.0.0.1 1200", "DeletePortMapping 7790 TCP"
	for within, want := range map[string][]string{
		"":                     nil,
		"AddPortMapping":       {add, remove},
		"GetExternalIPAddress": {add, "GetExternalIPAddress", remove},
	} {
		g := newGatewayDevice(t)
		k := g.keeper(t, new([]reach.Forwarding))
		ctx, end := context.WithCancel(t.Context())
		if within == "" {
			g.desc = func(http.ResponseWriter) { end() }
		}
		g.asked = func(action string) {
			if action == within {
				end()
			}
		}
		k.look(ctx, now)
		g.desc = nil
		k.end(t.Context())
		if end(); !slices.Equal(g.calls, want) {
			t.Errorf("within %q: asked %q, want %q", within, g.calls, want)
		}
	}
}

// A node asks by UPnP only where its owner says so, and by the other protocols where the router does not know it.
func TestAsksByUPnPWhereTheOwnerSaysSo(t *testing.T) {
	nobody := func(context.Context, netip.Addr, netip.Addr) (*url.URL, error) { return nil, errNoUPnP }
	silent := func([]byte) [][]byte { return nil }
	for may, want := range map[bool]string{true: "127.0.0.1 answers neither PCP, NAT-PMP nor UPnP",
		false: "127.0.0.1 answers neither PCP nor NAT-PMP"} {
		var told []reach.Forwarding
		k := newFakeRouter(t, func(q []byte) [][]byte { return [][]byte{natPMPAnswer(q, 7790)} }).keeper(&told)
		k.config.UPnP, k.search = may, nobody
		if k.look(t.Context(), now); len(told) != 1 || told[0].Protocol != "NAT-PMP" {
			t.Errorf("told %+v", told)
		}
		told = nil
		k = newFakeRouter(t, silent).keeper(&told)
		k.config.UPnP, k.search, k.wait = may, nobody, time.Millisecond
		if k.look(t.Context(), now); len(told) != 1 || told[0].Problem != want {
			t.Errorf("told %+v of a silent router, want %q", told, want)
		}
	}
	var told []reach.Forwarding
	k := newFakeRouter(t, func(q []byte) [][]byte { return [][]byte{natPMPAnswer(q, 7790)} }).keeper(&told)
	k.search = func(context.Context, netip.Addr, netip.Addr) (*url.URL, error) {
		t.Error("looked for UPnP where the owner did not say so")
		return nil, errNoUPnP
	}
	k.look(t.Context(), now)
}

// A router that forwards ports only until it is told otherwise is asked for that.
func TestForwardsUntilToldOtherwise(t *testing.T) {
	g := newGatewayDevice(t)
	g.fault["AddPortMapping"] = onlyPermanent
	var told []reach.Forwarding
	k := g.keeper(t, &told)
	k.look(t.Context(), now)
	if want := "AddPortMapping 7790 TCP 7790 127.0.0.1 0"; told[0].External != outside || g.calls[1] != want {
		t.Errorf("told %+v, asked %q, want %q second", told, g.calls, want)
	}
}

// Whatever a router answers by UPnP, the node says in words of its own what came of it, and asks nobody else.
func TestSaysWhatARouterDoesByUPnP(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another machine was asked for %s", r.URL)
	}))
	defer elsewhere.Close()
	say := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { io.WriteString(w, text) }
	}
	tests := map[string]struct {
		desc   func(http.ResponseWriter)
		action string
		code   int
		want   string // the problem
	}{
		"not allowed": {nil, "AddPortMapping", 606,
			"refuses: it lets no machine have ports forwarded, or not this one"},
		"taken":          {nil, "AddPortMapping", 718, "refuses: the port outside is taken"},
		"full":           {nil, "AddPortMapping", 728, "refuses: it can forward no more ports"},
		"another code":   {nil, "AddPortMapping", 501, "refuses, by code 501 of UPnP"},
		"no address":     {nil, "GetExternalIPAddress", 501, "refuses, by code 501 of UPnP"},
		"no description": {say("<html>"), "", 0, "describes itself by UPnP in what cannot be read"},
		"a page":         {say("<html></html>"), "", 0, "describes itself by UPnP in what cannot be read"},
		"no such service": {say(description("", "urn:schemas-upnp-org:service:Layer3Forwarding:1")), "", 0,
			"knows UPnP, and forwards no ports by it"},
		"no end": {func(w http.ResponseWriter) {
			io.WriteString(w, `<root xmlns="urn:schemas-upnp-org:device-1-0">`)
			for n := 0; n < 4*maxUPnPBytes; n += 1000 {
				io.WriteString(w, strings.Repeat(" ", 1000))
			}
			io.WriteString(w, "</root>")
		}, "", 0, "describes itself by UPnP in what cannot be read"},
		"elsewhere, by a redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(http.StatusFound)
		}, "", 0, "describes itself by UPnP in what cannot be read"},
		"not by http": {say(description("file:///etc", "urn:schemas-upnp-org:service:WANIPConnection:2")), "", 0,
			"knows UPnP, and forwards no ports by it"},
		"nobody at the port": {say(description("http://127.0.0.1:1", "urn:schemas-upnp-org:service:WANIPConnection:2")),
			"", 0, "does not answer by UPnP as it says that it would"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGatewayDevice(t)
			g.desc, g.fault[test.action] = test.desc, test.code
			var told []reach.Forwarding
			g.keeper(t, &told).look(t.Context(), now)
			want := "127.0.0.1 " + test.want
			if len(told) != 1 || told[0].Problem != want || told[0].External.IsValid() {
				t.Errorf("told %+v, want the problem %q", told, want)
			}
		})
	}
}

// What a router says of where it is to be asked leads to the router, whatever machine it names.
func TestAsksTheRouterAlone(t *testing.T) {
	g := newGatewayDevice(t)
	_, port, _ := net.SplitHostPort(g.server.Listener.Addr().String())
	g.desc = func(w http.ResponseWriter) {
		io.WriteString(w, description("http://192.0.2.7:"+port, "urn:schemas-upnp-org:service:WANPPPConnection:1"))
	}
	var told []reach.Forwarding
	g.keeper(t, &told).look(t.Context(), now)
	if len(told) != 1 || told[0].External != outside {
		t.Errorf("told %+v", told)
	}
}

// Of what comes in answer to a search only the router's own word counts, if it is one.
func TestReadsTheRoutersLocation(t *testing.T) {
	listen := func(at netip.Addr) *net.UDPConn {
		conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
		if err != nil {
			t.Skipf("no second loopback address to answer from: %v", err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	asking, router, other := listen(loopback), listen(loopback), listen(netip.MustParseAddr("127.0.0.2"))
	answer := func(from *net.UDPConn, location string) {
		text := "HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=120\r\n" + location + "\r\n"
		if _, err := from.WriteTo([]byte(text), asking.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	answer(other, "LOCATION: http://127.0.0.2:1/\r\n")
	answer(router, "")
	answer(router, "LOCATION: file:///etc/passwd\r\n")
	router.WriteTo([]byte("\x00\x01"), asking.LocalAddr())
	answer(router, "LOCATION: http://127.0.0.1:5000/desc.xml\r\n")
	got := readLocation(t.Context(), asking, loopback)
	if got == nil || got.String() != "http://127.0.0.1:5000/desc.xml" {
		t.Errorf("read %v", got)
	}
	asking.SetReadDeadline(time.Unix(1, 0))
	if got := readLocation(t.Context(), asking, loopback); got != nil {
		t.Errorf("read %v where nothing came", got)
	}
}

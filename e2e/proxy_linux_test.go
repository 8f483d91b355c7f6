package e2e

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tlsServer serves the folder in which it runs at port 443, with what is in cert.pem.
const tlsServer = `import http.server, ssl
s = http.server.ThreadingHTTPServer(('', 443), http.server.SimpleHTTPRequestHandler)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain('cert.pem')
s.socket = c.wrap_socket(s.socket, server_side=True)
s.serve_forever()`

// curl has a feed from the archive by way of the node as its proxy. All else, at http:// and through a tunnel, it is
// refused, or with reader_proxy = "all" has as it is, where that is public and nowhere else.
func TestProxyOfEachKind(t *testing.T) {
	bin := os.Getenv(inNetworks)
	if bin == "" {
		need(t, "ip", "unshare", "python3", "curl")
		runInNetworks(t)
		return
	}
	const public, private = thePublisher, "10.0.3.80"
	command(t, "mount", "-t", "tmpfs", "none", "/run")
	for _, line := range []string{"netns add web", "netns add home", "-n web link set lo up", "-n home link set lo up",
		"link add name eth0 netns web type veth peer name eth0 netns home", "-n web link set eth0 up",
		"-n home link set eth0 up", "-n web addr add " + public + "/8 dev eth0", "-n web addr add " + private +
			"/8 dev eth0", "-n home addr add 11.0.0.2/8 dev eth0", "-n home addr add 10.0.0.2/8 dev eth0"} {
		command(t, "ip", strings.Fields(line)...)
	}
	folder := t.TempDir()
	publisherIn(t, folder)(3)
	ship := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0, 255, '\n', 7}, 100_000)...)
	srv := httptest.NewTLSServer(nil)
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})...)
	srv.Close()
	for name, content := range map[string][]byte{"ship.png": ship, "cert.pem": cert} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	secure := exec.Command("ip", "netns", "exec", "web", "python3", "-c", tlsServer)
	secure.Dir = folder
	runUntilTheEnd(t, secure)

	proxies := map[string]string{"feeds": "127.0.0.1:7791", "all": "127.0.0.1:7792"}
	for kind, at := range proxies {
		n := inNetwork(t, bin, "home", "node", "--reader", at, "--listen", "127.0.0.1:0", "--reader-proxy", kind,
			"--allow-private", "--poll", "1s", "--subscribe", "http://"+public+"/feed.xml")
		eventually(t, func() string {
			if _, err := os.Stat(filepath.Join(n.data, "feedex.sock")); err != nil {
				return err.Error()
			}
			return ""
		})
		n.has(t, "Entry 2")
	}
	for _, c := range []struct{ kind, address, want string }{ // the answer's status and the proxy's to a tunnel
		{"feeds", "http://" + public + "/feed.xml", "200 000"},
		{"feeds", "http://" + public + "/ship.png", "403 000"},
		{"feeds", "https://" + public + "/ship.png", "000 405"},
		{"all", "http://" + public + "/feed.xml", "200 000"},
		{"all", "http://" + public + "/ship.png", "200 000"},
		{"all", "https://" + public + "/ship.png", "200 200"},
		{"all", "http://" + private + "/ship.png", "403 000"},
		{"all", "https://" + private + "/ship.png", "000 403"},
		{"all", "http://127.0.0.1:7791/feeds", "403 000"}, // the other node's pages
	} {
		got := filepath.Join(t.TempDir(), "got")
		fetch := func() string {
			// It fails where a tunnel is refused, and says so in what it writes.
			out, _ := exec.CommandContext(t.Context(), "ip", "netns", "exec", "home", "curl", "--silent", "--insecure",
				"--proxy", "http://"+proxies[c.kind], "--output", got, "--write-out", "%{http_code} %{http_connect}",
				c.address).CombinedOutput()
			return string(out)
		}
		if strings.HasPrefix(c.want, "200") { // servers begin when they begin
			eventually(t, func() string {
				if said := fetch(); said != c.want {
					return c.kind + ", " + c.address + ": " + said
				}
				return ""
			})
			content, err := os.ReadFile(got)
			if is := bytes.Equal(content, ship); err != nil || is != strings.HasSuffix(c.address, ".png") ||
				!is && !strings.Contains(string(content), "Entry 2") {
				t.Errorf("%s, %s: another answer than there is, of %d bytes, %v", c.kind, c.address, len(content), err)
			}
		} else if said := fetch(); said != c.want {
			t.Errorf("%s, %s: %s, want %s", c.kind, c.address, said, c.want)
		}
	}
}

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	page "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"feedex/reader/websub/websubtest"
	"feedex/reading"
)

// A hostileTitle is text that somebody puts where a title should be, or the name of an author, a category or a folder:
// as it stands in HTML or in RSS; what that says; and what a program that reads feeds is told, which may take it for
// either.
type hostileTitle struct{ published, text, label string }

func hostileTitles() []hostileTitle {
	list := []hostileTitle{ // "" is for what is as before
		{"What <b> does", "", "What ＜b＞ does"},
		{"The <script> element, <dialog> too", "", "The ＜script＞ element, ＜dialog＞ too"},
		{"Vec<T> & map<string>", "", "Vec＜T＞ & map＜string＞"},
		{"AT&T: 1 < 2, I <3 R&D", "", ""},
		{"Some <b>bold</b> and <a href='javascript:alert(1)'>more</a>", "Some bold and more", ""},
		{"one<script>alert(1)</script>", "", "one＜script＞alert(1)＜/script＞"},
		{"two<img src=x onerror=alert(1)>", "two", ""},
		{"three&lt;img src=x onerror=alert(1)&gt;", "three<img src=x onerror=alert(1)>",
			"three＜img src=x onerror=alert(1)＞"},
		{"four&amp;lt;img src=x onerror=alert(1)&amp;gt;", "four&lt;img src=x onerror=alert(1)&gt;",
			"four＆lt;img src=x onerror=alert(1)＆gt;"},
		{"five&amp;amp;lt;svg/onload=alert(1)>", "five&lt;svg/onload=alert(1)>", "five＆lt;svg/onload=alert(1)>"},
		{"six <svg/onload=alert(1)>", "", "six ＜svg/onload=alert(1)＞"},
		{"I&amp;#039;m escaped &amp;amp; twice", "I'm escaped & twice", ""},
		{"seven&#27;[2J&#27;]0;title&#7;&#x9b;", "seven[2J]0;title›", ""},
		{"eight &#x202e;gpj.exe&#x2066;", "eight gpj.exe", ""},
		{"nine \u202egpj.exe\u2067 \u200fok", "nine gpj.exe \u200fok", ""},
		{"ten &#xD800;&#0;", "ten \uFFFD\uFFFD", ""},
		{"lines &#10; of\n\ttext", "lines of text", ""},
		{`]]></title><entry> <!-- --> "'`, `]]></title><entry> "'`, `]]>＜/title＞＜entry＞ "'`},
		{"eleven " + strings.Repeat("<i>x</i>&amp;", 1<<20/12), "eleven " + strings.Repeat("x&", 496) + "…", ""},
	}
	for i := range list {
		h := &list[i]
		h.text = cmp.Or(h.text, h.published)
		h.label = cmp.Or(h.label, h.text)
	}
	return list
}

// A hostilePublisher publishes what there is: in RSS, in Atom, with titles as HTML and as text, and in JSON.
type hostilePublisher struct {
	titles []hostileTitle
	open   chan struct{} // closed when it begins to answer
}

func (p *hostilePublisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-p.open:
	case <-r.Context().Done():
		return
	}
	esc := html.EscapeString
	name := func(s string) string { return esc(s[:min(len(s), 2000)]) }
	switch r.URL.Path {
	case "/rss.xml":
		fmt.Fprintf(w, `<?xml version="1.0"?><rss version="2.0" `+
			`xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>%s</title><link>javascript:alert(1)</link>`+
			`<description/>`, esc(p.titles[0].published))
		for i, t := range p.titles {
			title := esc(t.published)
			if i%2 == 1 && !strings.Contains(t.published, "]]>") && !strings.Contains(t.published, "&#") {
				title = "<![CDATA[" + t.published + "]]>"
			}
			fmt.Fprintf(w, `<item><guid isPermaLink="false">%d"&lt;b></guid><title>%s</title><link>`+
				`javascript:alert(1)</link><dc:creator>%[3]s</dc:creator><category>%[3]s</category>`+
				`<enclosure url="javascript:alert(1)" type="audio/mpeg" length="1"/><description>&lt;p `+
				`onclick="alert(1)">text&amp;#27;[2J&lt;script>alert(1)&lt;/script></description></item>`,
				i, title, name(t.published))
		}
		io.WriteString(w, `</channel></rss>`)
	case "/atom.xml":
		fmt.Fprintf(w, `<feed xmlns="http://www.w3.org/2005/Atom"><id>a</id><title type="html">%s</title><link `+
			`href="javascript:alert(1)"/>`, esc(p.titles[1].published))
		for i, t := range p.titles {
			for kind, title := range map[string]string{"html": t.published, "text": t.text} {
				fmt.Fprintf(w,
					`<entry><id>%d %s</id><title `+
						`type="%[2]s">%[3]s</title><author><name>%[4]s</name></author><category term="%[4]s"/><link `+
						`href="https://example.com/&quot;&gt;&lt;b&gt;"/>`+
						`<link rel="enclosure" href="http://example.com/%%E2%%80%%AEgpj.exe%%1B%%3Cb%%3E" `+
						`type="a/&lt;b>&#x202e;"/><summary>s</summary></entry>`, i, kind, esc(title), name(title))
			}
		}
		io.WriteString(w, `</feed>`)
	case "/feed.json":
		feed := map[string]any{"version": "https://jsonfeed.org/version/1.1", "title": p.titles[0].text,
			"home_page_url": "javascript:alert(1)"}
		var items []any
		for i, t := range p.titles {
			items = append(items, map[string]any{"id": fmt.Sprint(i), "title": t.text,
				"authors": []any{map[string]any{"name": t.text}}, "tags": []string{t.text},
				"summary": "&lt;img src=x onerror=alert(1)&gt;<b>\x1b", "content_html": "<b>c</b>"})
		}
		feed["items"] = items
		text, _ := json.Marshal(feed)
		w.Write(bytes.Replace(text, []byte("��"), []byte(`\udc00\u0000\ud800`), 1))
	case "/page":
		io.WriteString(w, `<!DOCTYPE html><title>Page</title>`)
		for i, t := range p.titles[:len(p.titles)-1] {
			fmt.Fprintf(w, `<link rel="alternate" type="application/rss+xml" title="%s" href="/none/%d">`,
				esc(t.text), i)
		}
	}
}

// A hostileRun is a node that follows them, and what came of it.
type hostileRun struct {
	*testing.T
	data, base string // its directory, and where readers find it
	publisher  string
	titles     []hostileTitle
	subscriber *websubtest.Subscriber
	log        func() string // ends it, and returns what it logged
}

// startHostile starts the program, its publisher closed yet.
func startHostile(t *testing.T) (*hostileRun, *hostilePublisher) {
	p := &hostilePublisher{titles: hostileTitles(), open: make(chan struct{})}
	publisher := httptest.NewServer(p)
	t.Cleanup(publisher.Close)
	run := &hostileRun{T: t, data: t.TempDir(), publisher: publisher.URL, titles: p.titles,
		subscriber: websubtest.Start(t)}
	args := []string{"node", "--data", run.data, "--listen", "127.0.0.1:0", "--reader", "127.0.0.1:0",
		"--allow-private", "--log-level", "debug", "--poll", "1h",
		"--reader-push", run.subscriber.Listener.Addr().String()}
	for _, name := range []string{"rss.xml", "atom.xml", "feed.json"} {
		args = append(args, "--subscribe", publisher.URL+"/"+name)
	}
	cmd := feedexProcess(t, args...)
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var log strings.Builder
	ready, done := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewReader(stderr)
		for {
			line, err := lines.ReadString('\n')
			mu.Lock()
			log.WriteString(line)
			mu.Unlock()
			if m := regexp.MustCompile(`msg="node serves" .* reader=(\S+)/ `).FindStringSubmatch(line); m != nil {
				ready <- m[1]
			}
			if err != nil {
				return
			}
		}
	}()
	run.log = sync.OnceValue(func() string {
		_ = cmd.Process.Signal(os.Interrupt)
		<-done
		_ = cmd.Wait()
		mu.Lock()
		defer mu.Unlock()
		return log.String()
	})
	t.Cleanup(func() { run.log() })
	select {
	case run.base = <-ready:
	case <-done:
		t.Fatalf("the node ended: %s", run.log())
	}
	return run, p
}

// do asks the node, and returns what it says.
func (r *hostileRun) do(method, target, body string, header ...string) string {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.base+target, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		r.Fatalf("%s %s: %d, %v: %.2000s", method, target, resp.StatusCode, err, text)
	}
	return string(text)
}

// notText are the members and elements that hold HTML.
var notText = map[string]bool{"content": true, "content_html": true, "html": true, "body": true, "description": true,
	"encoded": true}

// textsOfJSON are the strings of a JSON text that are no HTML.
func (r *hostileRun) textsOfJSON(where, document string) (texts []string) {
	r.Helper()
	var v any
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		r.Fatalf("%s: %v: %.1000s", where, err, document)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for name, x := range v {
				if text, ok := x.(string); ok && notText[name] {
					r.checkHTML(where, text)
					continue
				}
				walk(x)
			}
		}
	}
	walk(v)
	return texts
}

// textsOfXML are the texts and values of an XML document that are no HTML.
func (r *hostileRun) textsOfXML(where, document string) (texts []string) {
	r.Helper()
	d := xml.NewDecoder(strings.NewReader(document))
	asHTML, text := false, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			r.Fatalf("%s: %v", where, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			asHTML, text = token.Name.Local == "description" || token.Name.Local == "encoded", ""
			for _, a := range token.Attr {
				asHTML = asHTML || a.Name.Local == "type" && a.Value == "html"
				texts = append(texts, a.Value)
			}
		case xml.CharData:
			text += string(token)
		case xml.EndElement:
			if text = strings.Trim(text, "\n "); asHTML {
				r.checkHTML(where, text)
			} else {
				texts = append(texts, text)
			}
			asHTML, text = false, ""
		}
	}
}

// checkTidy finds what would steer a terminal, or turn what is around it.
func (r *hostileRun) checkTidy(where, text string) {
	r.Helper()
	for i, c := range text {
		if unicode.IsControl(c) && c != '\n' || '\u202a' <= c && c <= '\u202e' || '\u2066' <= c && c <= '\u2069' ||
			c == '\u2028' {
			r.Errorf("%s holds %U in %q", where, c, text[max(0, i-30):min(len(text), i+30)])
			return
		}
	}
}

// checkHTML finds programs in HTML that is shown.
func (r *hostileRun) checkHTML(where, text string) {
	r.Helper()
	r.checkTidy(where, text)
	root, err := page.Parse(strings.NewReader(text))
	if err != nil {
		r.Fatal(err)
	}
	for n := range root.Descendants() {
		switch {
		case n.Type != page.ElementNode:
			continue
		case n.DataAtom == atom.Script, n.DataAtom == atom.Style, n.Namespace != "":
			r.Errorf("%s holds %s", where, n.Data)
		}
		r.checkAttributes(where, n)
	}
}

// checkAttributes finds programs in the attributes of an element.
func (r *hostileRun) checkAttributes(where string, n *page.Node) {
	r.Helper()
	for _, a := range n.Attr {
		r.checkTidy(where, a.Val)
		if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)),
			"javascript:") {
			r.Errorf("%s: %s=%q", where, a.Key, a.Val)
		}
	}
}

// checkLabels finds texts in which a reader could find markup, and titles of the node's that are not among the texts.
func (r *hostileRun) checkLabels(where string, texts []string, all bool) {
	r.Helper()
	r.Logf("%s: %d texts", where, len(texts))
	for _, text := range texts {
		r.checkTidy(where, text)
		if n := utf8.RuneCountInString(text); n > 1000 && !strings.HasPrefix(text, r.base) {
			r.Errorf("%s: a text of %d characters: %.60q", where, n, text)
		}
		if plain := html.UnescapeString(text); plain != text {
			r.Errorf("%s: HTML takes %.200q for %.200q", where, text, plain)
		}
		if strings.HasPrefix(strings.ToLower(text), "javascript:") {
			r.Errorf("%s: %q", where, text)
		}
		if m := regexp.MustCompile(`<[a-zA-Z/!?]`).FindString(text); m != "" {
			r.Errorf("%s: HTML finds a tag in %.200q", where, text)
		}
	}
	if !all {
		return
	}
	for _, h := range r.titles {
		if !slices.Contains(texts, h.label) {
			r.Errorf("%s does not have %.100q, for %.100q", where, h.label, h.published)
		}
	}
}

// Text that publishers write where a title should be does not reach a reader as markup, in whatever format it reads and
// whether it takes a title for text or for HTML; it steers no terminal and no page, and loses nothing that was meant.
func TestHostileTitles(t *testing.T) {
	r, p := startHostile(t)
	r.subscriber.Subscribe(t, r.base+"/all.atom")
	close(p.open)
	entries := 4 * len(r.titles)
	for n := 0; n < entries; {
		var found struct{ Entries []any }
		if err := json.Unmarshal([]byte(r.do("GET", "/archive?limit=200", "")), &found); err != nil {
			t.Fatal(err)
		}
		n = len(found.Entries)
	}
	password := regexp.MustCompile(`[0-9a-f]{32}`).FindString(feedexOutput(t, "password", "add", "--data",
		r.data, "phone"))
	t.Run("feeds", func(t *testing.T) { r.feeds(t, entries) })
	t.Run("sync", func(t *testing.T) { r.sync(t, password) })
	t.Run("names", func(t *testing.T) { r.names(t, password) })
	t.Run("pages", func(t *testing.T) { r.in(t).pages() })
	t.Run("commands", func(t *testing.T) { r.in(t).commands() })
	r.checkTidy("the log", r.log())
}

// in is the run within a part of the test.
func (r *hostileRun) in(t *testing.T) *hostileRun {
	part := *r
	part.T = t
	return &part
}

// feeds checks the feeds that readers poll, by whatever way.
func (r *hostileRun) feeds(t *testing.T, entries int) {
	r = r.in(t)
	for n := 1; n <= 3; n++ {
		for _, format := range []string{"atom", "rss"} {
			target := fmt.Sprintf("/feeds/%d.%s", n, format)
			r.checkLabels(target, r.textsOfXML(target, r.do("GET", target, "")), true)
		}
		target := fmt.Sprintf("/feeds/%d.json", n)
		r.checkLabels(target, r.textsOfJSON(target, r.do("GET", target, "")), true)
	}
	for _, target := range []string{"/all.atom", "/all.rss", "/archive?format=atom&limit=200"} {
		r.checkLabels(target, r.textsOfXML(target, r.do("GET", target, "")), true)
	}
	r.checkLabels("/all.json", r.textsOfJSON("/all.json", r.do("GET", "/all.json", "")), true)
	for _, target := range []string{"/opml", "/opml?via=node", "/archive/opensearch.xml",
		"/archive?format=atom&q=" + url.QueryEscape(`"<b>x</b>&lt;"`)} {
		r.checkLabels(target, r.textsOfXML(target, r.do("GET", target, "")), false)
	}
	list := r.do("GET", "/opml", "")
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/rss\.xml`).FindString(list)
	at, err := url.Parse(r.base)
	if err != nil || address == "" {
		t.Fatal(err, list)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	r.checkLabels("the proxy", r.textsOfXML("the proxy", string(text)), true)
	var texts []string
	for ids := make(map[string]bool); len(ids) < entries; {
		text := (<-r.subscriber.Pushed).Text
		texts = append(texts, r.textsOfXML("what the hub pushes", text)...)
		for _, m := range regexp.MustCompile(`<entry>\s*<id>([^<]*)`).FindAllStringSubmatch(text, -1) {
			ids[m[1]] = true
		}
	}
	r.checkLabels("what the hub pushes", texts, true)

	// Data for programs is as published: an id is made of it. It is JSON, and no page for a browser.
	var data struct{ Entries []struct{ Title string } }
	if err := json.Unmarshal([]byte(r.do("GET", "/archive?limit=200", "")), &data); err != nil {
		t.Fatal(err)
	}
	for _, h := range r.titles[:6] {
		if !slices.ContainsFunc(data.Entries, func(e struct{ Title string }) bool { return e.Title == h.published }) {
			t.Errorf("/archive does not have %q", h.published)
		}
	}
}

// sync checks the titles that readers with accounts get.
func (r *hostileRun) sync(t *testing.T, password string) {
	r = r.in(t)
	login := []string{"Authorization", "GoogleLogin auth=" + password}
	for target, all := range map[string]bool{"stream/contents/user/-/state/com.google/reading-list?n=1000": true,
		"subscription/list?output=json": false, "tag/list?output=json": false, "unread-count?output=json": false} {
		r.checkLabels("Google Reader: "+target,
			r.textsOfJSON(target, r.do("GET", "/reader/api/0/"+target, "", login...)), all)
	}
	target := "/reader/atom/user/-/state/com.google/reading-list?n=1000"
	r.checkLabels("Google Reader: "+target, r.textsOfXML(target, r.do("GET", target, "", login...)), true)
	r.checkLabels("Google Reader: export",
		r.textsOfXML("export", r.do("GET", "/reader/api/0/subscription/export", "", login...)), false)
	key := "api_key=" + reading.FeverKey("phone", password)
	var texts []string
	for _, since := range []string{"0", "50"} {
		texts = append(texts, r.textsOfJSON("Fever", r.do("POST", "/fever/?api&groups&feeds&items&since_id="+since,
			key))...)
	}
	r.checkLabels("Fever", texts, true)
	token := []string{"X-Auth-Token", password}
	for target, all := range map[string]bool{"feeds": false, "categories": false, "entries?limit=1000": true} {
		r.checkLabels("Miniflux: "+target, r.textsOfJSON(target, r.do("GET", "/v1/"+target, "", token...)), all)
	}
	r.checkLabels("Miniflux: export", r.textsOfXML("export", r.do("GET", "/v1/export", "", token...)), false)
	basic := []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("phone:"+password))}
	for target, all := range map[string]bool{"feeds": false, "folders": false, "items?type=3&batchSize=-1": true} {
		r.checkLabels("Nextcloud: "+target,
			r.textsOfJSON(target, r.do("GET", "/index.php/apps/news/api/v1-2/"+target, "", basic...)), all)
	}
}

// names are those that readers and lists give feeds and folders: each is the same wherever it is shown, and a reader
// that says it as it was typed means it.
func (r *hostileRun) names(t *testing.T, password string) {
	r = r.in(t)
	login := []string{"Authorization", "GoogleLogin auth=" + password, "Content-Type",
		"application/x-www-form-urlencoded"}
	token := []string{"X-Auth-Token", password}
	basic := []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("phone:"+password)),
		"Content-Type", "application/json"}
	var list strings.Builder
	list.WriteString("<opml><body>")
	names := r.titles[:len(r.titles)-1] // the last is too long for a name
	for i, h := range names {
		title, _ := json.Marshal(h.text)
		switch i % 4 {
		case 0:
			form := url.Values{"s": {"feed/1"}, "ac": {"edit"}, "t": {h.text}, "a": {"user/-/label/" + h.text}}
			r.do("POST", "/reader/api/0/subscription/edit", form.Encode(), login...)
			var stream struct{ Items []any }
			text := r.do("GET", "/reader/api/0/stream/contents/"+url.PathEscape("user/-/label/"+h.text)+"?n=1",
				"", login...)
			if err := json.Unmarshal([]byte(text), &stream); err != nil || len(stream.Items) != 1 {
				t.Errorf("the folder %q is not found again: %v, %s", h.text, err, text)
			}
		case 1:
			r.do("POST", "/v1/categories", `{"title":`+string(title)+`}`, token...)
			r.do("PUT", "/v1/feeds/2", `{"title":`+string(title)+`}`, token...)
		case 2:
			r.do("POST", "/index.php/apps/news/api/v1-2/folders", `{"name":`+string(title)+`}`, basic...)
			r.do("PUT", "/index.php/apps/news/api/v1-2/feeds/3/rename", `{"feedTitle":`+string(title)+`}`, basic...)
		case 3:
			fmt.Fprintf(&list,
				`<outline text="%s"><outline type="rss" text="%[1]s" htmlUrl="javascript:alert(1)" `+
					`xmlUrl="http://127.0.0.1:1/%d"/></outline>`, html.EscapeString(h.text), i)
		}
	}
	file := filepath.Join(t.TempDir(), "list.opml")
	list.WriteString(`<outline text="&#27;[2J&#x202e;" type="rss"/></body></opml>`)
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := feedexProcess(t, "import", "--no-wait", "--data", r.data, file)
	cmd.Stderr = nil
	out, _ := cmd.CombinedOutput() // not all of the list can be used
	if r.checkTidy("feedex import", string(out)); !strings.Contains(string(out), "following 4 feeds more") {
		t.Errorf("feedex import: %s", out)
	}

	for where, texts := range map[string][]string{
		"Google Reader": append(r.textsOfJSON("subscriptions",
			r.do("GET", "/reader/api/0/subscription/list", "", login...)),
			r.textsOfJSON("tags", strings.ReplaceAll(r.do("GET", "/reader/api/0/tag/list", "", login...),
				"user/-/label/", ""))...),
		"Miniflux": append(r.textsOfJSON("feeds", r.do("GET", "/v1/feeds", "", token...)),
			r.textsOfJSON("categories", r.do("GET", "/v1/categories", "", token...))...),
		"Nextcloud": append(r.textsOfJSON("feeds", r.do("GET", "/apps/news/api/feeds", "", basic...)),
			r.textsOfJSON("folders", r.do("GET", "/apps/news/api/folders", "", basic...))...),
		"Fever": r.textsOfJSON("Fever", r.do("POST", "/fever/?api&groups&feeds",
			"api_key="+reading.FeverKey("phone", password))),
		"OPML": r.textsOfXML("OPML", feedexOutput(t, "export", "--data", r.data, "-")),
	} {
		r.checkLabels(where, texts, false)
		for i, h := range names {
			// which shows folders with feeds in them
			if !slices.Contains(texts, h.label) && (where != "OPML" || i%4 == 3) {
				t.Errorf("%s does not have the name %q", where, h.label)
			}
		}
	}
	found := r.textsOfJSON("discover", r.do("POST", "/v1/discover", `{"url":"`+r.publisher+`/page"}`, token...))
	r.checkLabels("Miniflux: discover", found, false)
	if want := r.titles[0].label; !slices.Contains(found, want) {
		t.Errorf("of the feeds that a page names there are %q, want %q among them", found, want)
	}
}

// pages are the node's own, in which titles are exactly what they say.
func (r *hostileRun) pages() {
	targets := []string{"/", "/feeds", "/feeds/1", "/feeds/2", "/feeds/3", "/entries", "/search?q=gpj", "/settings",
		"/neighbors"}
	seen := make(map[string]bool)
	var texts []string
	for len(targets) > 0 {
		target := targets[0]
		targets = targets[1:]
		document := r.do("GET", target, "")
		root, err := page.Parse(strings.NewReader(document))
		if err != nil {
			r.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == page.TextNode {
				texts = append(texts, strings.TrimSpace(n.Data))
				r.checkTidy(target, strings.TrimSpace(n.Data))
				continue
			}
			r.checkAttributes(target, n)
			for _, a := range n.Attr {
				more := n.DataAtom == atom.A && a.Key == "href" &&
					(strings.HasPrefix(a.Val, "/entries/") || strings.HasPrefix(a.Val, "/entries?") ||
						strings.HasPrefix(a.Val, "?"))
				if more && strings.HasPrefix(a.Val, "?") {
					a.Val = "/entries" + a.Val
				}
				if rest, is := strings.CutPrefix(a.Val, "/entries/"); is { // from whichever list it is opened
					a.Val = "/entries/" + rest[:min(len(rest), max(0, strings.IndexAny(rest+"?", "/?")))]
				}
				if more && !seen[a.Val] {
					seen[a.Val] = true
					targets = append(targets, a.Val)
				}
			}
			if n.DataAtom == atom.Script && !strings.HasPrefix(attributeOf(n, "src"), "/assets/") ||
				n.DataAtom == atom.Img || n.DataAtom == atom.Iframe {
				r.Errorf("%s: %s %v", target, n.Data, n.Attr)
			}
		}
	}
	r.Logf("%d pages", len(seen))
	for _, h := range r.titles {
		if !slices.Contains(texts, h.text) {
			r.Errorf("no page has %.100q", h.text)
		}
	}
}

func attributeOf(n *page.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// commands checks the output that the owner reads in a terminal.
func (r *hostileRun) commands() {
	for _, args := range [][]string{
		{"query", "--limit", "200"}, {"query", "--limit", "200", "--json"}, {"feeds"}, {"feeds", "--json"}, {"status"},
		{"status", "--json"},
		{"archive", "stats"}, {"export"}, {"archive", "verify"},
	} {
		out := feedexOutput(r.T, append(args, "--data", r.data)...)
		r.checkTidy("feedex "+strings.Join(args, " "), out)
		if args[0] == "query" && len(args) == 3 {
			for _, h := range r.titles {
				if text := shorten(h.text, maxTitle); !strings.Contains(out, ": "+text+"\n") {
					r.Errorf("feedex query does not print %.100q", text)
				}
			}
		}
	}
	cmd := feedexProcess(r.T, "subscribe", "--data", r.data, r.publisher+"/page")
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	r.checkTidy("feedex subscribe", string(out))
	if want := r.titles[0].text; err == nil || !strings.Contains(string(out), want) {
		r.Errorf("feedex subscribe: %v, and no %q among\n%s", err, want, out)
	}
}

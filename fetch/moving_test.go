package fetch

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/node"
)

// A feed that moves while it is read goes by its new name after a day, and is asked for by its old one no more; nothing
// of it is lost or comes twice.
func TestAFeedMovesWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const old, there feed.URL = "http://news.example.org/feed", "http://news.example.org/feed/"
		begun, atOld := time.Now(), 0
		moved, settled := begun.Add(10*time.Hour), begun.Add(60*time.Hour)
		entries := func() int { return 3 + int(time.Since(begun)/(5*time.Hour)) }
		r := &resident{t: t, store: archive.NewMemory(), ended: make(chan ended, 1000)}
		r.client = inMemory(t, func(_ string, conn net.Conn) {
			req, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				return
			}
			if req.URL.Path == "/feed" && time.Now().After(moved) {
				if time.Now().After(settled) {
					atOld++
				}
				fmt.Fprint(conn, "HTTP/1.1 301 Moved Permanently\r\nLocation: /feed/\r\nContent-Length: 0\r\n"+
					"Connection: close\r\n\r\n")
				return
			}
			var items strings.Builder
			for i := max(0, entries()-10); i < entries(); i++ {
				fmt.Fprintf(&items, `<item><guid>urn:%d</guid><title>Entry %d</title></item>`, i, i)
			}
			tag := fmt.Sprintf(`"%d"`, entries())
			if req.Header.Get("If-None-Match") == tag {
				fmt.Fprint(conn, "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n")
				return
			}
			doc := `<rss version="2.0"><channel><title>News</title>` + items.String() + `</channel></rss>`
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nETag: %s\r\nContent-Type: application/rss+xml\r\n"+
				"Content-Length: %d\r\nConnection: close\r\n\r\n%s", tag, len(doc), doc)
		})
		r.wake()
		r.step(context.Background(), node.Subscribe{Feeds: []feed.URL{old}})
		r.live(time.Until(settled))
		r.kill()
		r.wake()
		r.live(30 * time.Hour)
		r.kill()
		list := r.node.Feeds()
		if len(list) != 1 || list[0].URL != there || list[0].Page != old || list[0].Errors != 0 {
			t.Fatalf("follows %+v", list)
		}
		if atOld != 0 {
			t.Errorf("its old name was asked for %d times after it had another", atOld)
		}
		found, err := r.store.Search(t.Context(), feed.Filter{Limit: 1000})
		if err != nil || len(found) < entries()-2 || len(found) > entries() {
			t.Errorf("%d entries are here of %d, %v", len(found), entries(), err)
		}
		for i := range found {
			if e := &found[i].Entry; e.Feed != there || e.EntryID() != found[i].ID {
				t.Errorf("%s is of %s", e.ID, e.Feed)
			}
		}
	})
}

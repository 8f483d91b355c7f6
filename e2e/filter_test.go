package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A person types words on the page Filters, sees what they would have caught, keeps them, and has what they catch from
// then on in newsboat.
func TestNewsboatReadsAFilter(t *testing.T) {
	need(t, "newsboat")
	needBrowser(t)
	p, n := startPublisher(t), startPollingNode(t)
	url := p.publish("/harbor.xml", "Harbor News", "A storm at sea", "A brain storm", "Low tide")
	nb := newNewsboat(t, n.url("/feed/"+url), "")
	n.feedex(t, "subscribe", url)
	nb.expectUnread(t, 3)

	b := openBrowser(t, n)
	b.visit(t, "/filters")
	b.do(t, chromedp.SendKeys(chromedp.CSS("#words"), "storm NOT brain"))
	eventually(t, func() string { // without a button
		if shown := b.text(t); !strings.Contains(shown, "last month") || !strings.Contains(shown, "A storm at sea") ||
			strings.Contains(shown, "A brain storm") {
			return "the page does not show what the words would have caught:\n" + shown
		}
		return ""
	})
	b.do(t, chromedp.SendKeys(chromedp.CSS("#name"), "Storms"))
	b.click(t, `form[data-try] button`)
	b.says(t, "The filter is kept", "storm NOT brain")
	b.inspect(t, "filters")

	nb = newNewsboat(t, n.url("/filter/Storms.atom"), "")
	nb.expectUnread(t, 1)
	p.publish("/harbor.xml", "", "A late storm", "Another brain storm", "High tide")
	nb.expectUnread(t, 2)
}

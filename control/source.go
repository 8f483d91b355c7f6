package control

import (
	"fmt"
	"net/url"
	"strings"

	"feedex/invitation"
)

// ReadSource reads the name of a tracker, an http or https URL, or of a neighbor to have always, "host:port" or a site.
// The error is a BadRequest.
func ReadSource(text string) (name string, tracker bool, err error) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "://") && !strings.HasPrefix(text, "feedex:") {
		if name, tracker = invitation.Tracker(text); !tracker {
			if u, err := url.Parse(text); err == nil {
				text = u.Redacted()
			}
			err = BadRequest{fmt.Errorf("%.80q is no tracker: want a URL such as http://tracker.example.net:7788/",
				text)}
		}
		return name, tracker, err
	}
	i, err := invitation.Read(text)
	switch {
	case err != nil:
		return "", false, BadRequest{err}
	case !i.Key.IsZero() || len(i.Feeds) > 0:
		return "", false, BadRequest{fmt.Errorf("%.80q is an invitation, which is followed once: want a node's "+
			"host:port, a site such as example.org, or a tracker's URL", text)}
	}
	return i.Host, false, nil
}

package syncapi

import (
	"encoding/base64"
	"net/http"
	"strings"

	"feedex/picture"
	"feedex/reading"
)

// IconURL is the address at which a reader finds the picture of a feed, seen from where it asks, "" for none.
func IconURL(r *http.Request, icon reading.IconRef) string {
	path := icon.Path()
	if path == "" || r.Host == "" {
		return ""
	}
	scheme, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",") // several servers list theirs
	if scheme = strings.ToLower(strings.TrimSpace(scheme)); r.TLS != nil {
		scheme = "https"
	} else if scheme != "https" {
		scheme = "http"
	}
	return scheme + "://" + r.Host + path
}

// IconData is the type and the content of a picture, as the text of a URL of the scheme "data" behind that.
func IconData(icon *reading.Icon) (mediaType, data string) {
	mediaType = picture.Type(icon.Content)
	return mediaType, mediaType + ";base64," + base64.StdEncoding.EncodeToString(icon.Content)
}

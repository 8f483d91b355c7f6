package syncapi

import (
	"encoding/base64"
	"net/http"

	"feedex/picture"
	"feedex/reading"
)

// IconURL is the address at which a reader finds the picture of a feed, seen from where it asks, "" for none.
func IconURL(r *http.Request, icon reading.IconRef) string {
	path := icon.Path()
	if path == "" || r.Host == "" {
		return ""
	}
	return Scheme(r) + "://" + r.Host + path
}

// IconData is the type and the content of a picture, as the text of a URL of the scheme "data" behind that.
func IconData(icon *reading.Icon) (mediaType, data string) {
	mediaType = picture.Type(icon.Content)
	return mediaType, mediaType + ";base64," + base64.StdEncoding.EncodeToString(icon.Content)
}

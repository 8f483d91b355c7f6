package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"feedex/feed"
	"feedex/picture"
	"feedex/reading"
	"feedex/safehtml"
)

// icon serves the picture of a feed to who knows its word: readers fetch it without a password.
func (h *Handler) icon(w http.ResponseWriter, r *http.Request) {
	icon, err := h.Source.IconAt(r.Context(), r.PathValue("word"))
	if err != nil {
		h.Log.Error("picture of a feed not read", "err", err)
		http.Error(w, "The node could not read its archive. Its log says why.", http.StatusInternalServerError)
		return
	}
	if len(icon.Content) == 0 {
		http.NotFound(w, r)
		return
	}
	servePicture(w, icon.Content, 365*24*time.Hour)
}

// pictureHolds is how long a browser shows the picture of an entry without asking for it again.
const pictureHolds = 7 * 24 * time.Hour

// pictureAt is where the node has a picture of an entry for who may see the feed of that number. The address bears a
// code, so that nobody can have the node fetch another.
func (h *kit) pictureAt(number int64, at feed.URL) string {
	return "/pictures/" + strconv.FormatInt(number, 10) + "/" + h.pictureCode(number, at) + "/" +
		base64.RawURLEncoding.EncodeToString([]byte(at))
}

func (h *kit) pictureCode(number int64, at feed.URL) string {
	mac := hmac.New(sha256.New, h.key)
	fmt.Fprintf(mac, "picture\x00%d\x00%s", number, at)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// picture serves a picture of an entry, by way of the node: whoever has it learns nothing of who reads.
func (h *desk) picture(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.PathValue("feed"), 10, 64)
	address, bad := base64.RawURLEncoding.DecodeString(r.PathValue("address"))
	at := feed.URL(address)
	if err != nil || bad != nil || !hmac.Equal([]byte(r.PathValue("code")), []byte(h.pictureCode(number, at))) {
		http.Error(w, "No entry that this page shows holds that picture. Load the page of the entry anew.",
			http.StatusForbidden)
		return
	}
	content, err := h.Shelf.Picture(r.Context(), number, at)
	if err != nil {
		h.Log.Debug("picture not had", "host", at.Host(), "err", err)
		http.Error(w, "The picture could not be had: "+safehtml.Line(err.Error())+".", http.StatusBadGateway)
		return
	}
	servePicture(w, content, pictureHolds)
}

// showPictures keeps whether pictures of a feed are shown without asking.
func (h *desk) showPictures(_ http.ResponseWriter, r *http.Request) (string, error) {
	number, err := feedOf(r)
	if err != nil {
		return "", err
	}
	shown := r.PostFormValue("as") == "shown"
	return local(r.PostFormValue("next")),
		h.Shelf.Arrange(r.Context(), reading.Arrangement{Feed: reading.FeedID(number), Pictures: &shown})
}

// servePicture answers with a picture that holds for so long.
func servePicture(w http.ResponseWriter, content []byte, holds time.Duration) {
	header := w.Header()
	header.Set("Content-Type", picture.Type(content))
	header.Set("Content-Security-Policy", picture.Policy)
	header.Set("Content-Length", strconv.Itoa(len(content)))
	header.Set("Cache-Control", fmt.Sprintf("private, max-age=%d, immutable", int(holds.Seconds())))
	_, _ = w.Write(content) // a browser that went away wants none
}

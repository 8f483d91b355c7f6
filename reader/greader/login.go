package greader

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"feedex/reading"
	"feedex/syncapi"
)

// login answers a program that shows its name and password with the token by which it comes in from then on: the
// password itself, which is made so that it can stand there. It has no "=", at which NetNewsWire splits the lines; and
// the token lasts until the password is removed.
func (h *handler) login(w http.ResponseWriter, r *request) error {
	password := r.params.get("Passwd")
	visitor, err := syncapi.Visitor(r.Context(), h.Entrance, r.params.get("Email"), password)
	if err != nil {
		return err
	}
	if visitor.Name == "" {
		return syncapi.Refuse(http.StatusUnauthorized, "Error=BadAuthentication")
	}
	if r.params.get("output") == "json" { // Read You
		return writeJSON(w, struct{ SID, LSID, Auth string }{password, password, password})
	}
	text(w, http.StatusOK, fmt.Sprintf("SID=%[1]s\nLSID=%[1]s\nAuth=%[1]s\n", password))
	return nil
}

// maxTokens is how many tokens of one request are looked at.
const maxTokens = 3

// errUnknown is for who shows no token that lets in.
var errUnknown = syncapi.Refuse(http.StatusUnauthorized, "Unauthorized")

// enter is who sent the request, by the header or, with POST, by the parameter T, as far as that was not looked at
// before; the zero Visitor for nobody. One of them is enough: Fluent Reader never sends T, RSS Guard not always;
// liferea has the same in both; newsboat's T ends in a newline.
func (h *handler) enter(r *request) (reading.Visitor, error) {
	tokens := []string{authToken(r.Header.Get("Authorization"))}
	if r.Method == http.MethodPost {
		tokens = append(tokens, r.params.Values["T"]...)
	}
	for ; r.looks < min(len(tokens), maxTokens); r.looks++ {
		token := strings.TrimSpace(tokens[r.looks])
		if token == "" {
			continue
		}
		if v, err := h.Entrance.Visitor(r.Context(), token); v.Name != "" || err != nil {
			return v, err
		}
	}
	return reading.Visitor{}, nil
}

// authToken is the token in a header: GoogleLogin auth=TOKEN.
func authToken(header string) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "GoogleLogin") {
		return ""
	}
	name, token, _ := strings.Cut(strings.TrimSpace(rest), "=")
	if !strings.EqualFold(name, "auth") {
		return ""
	}
	return strings.Trim(token, `" `)
}

// token answers with the T of changes: no newline ends it, or newsboat would send that as well.
func (h *handler) token(w http.ResponseWriter, r *request) error {
	text(w, http.StatusOK, cmp.Or(authToken(r.Header.Get("Authorization")), r.params.get("T")))
	return nil
}

func (h *handler) userInfo(w http.ResponseWriter, r *request) error {
	email := ""
	if strings.Contains(r.user, "@") {
		email = r.user
	}
	return writeJSON(w, struct {
		ID      string `json:"userId"`
		Name    string `json:"userName"`
		Profile string `json:"userProfileId"`
		Email   string `json:"userEmail"`
	}{r.user, r.user, r.user, email})
}

const jsonType = "application/json; charset=utf-8"

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, v any) error {
	return syncapi.Reply(w, http.StatusOK, jsonType, v)
}

// Package saving gives entries to services that keep what somebody wants to have again: Wallabag
// (https://doc.wallabag.org/developer/api/) and linkding (https://linkding.link/api/).
//
// A service is at an address that somebody named, perhaps in a private network, and gets what lets them in. So
// nothing is sent to any other address: redirects are not followed, and no proxy stands between.
package saving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedex/safehtml"
)

// A ServiceKind is a kind of service.
type ServiceKind string

// The kinds.
const (
	Wallabag ServiceKind = "wallabag"
	Linkding ServiceKind = "linkding"
)

// A Service takes entries. The zero Service is none.
type Service struct {
	Kind    ServiceKind `json:"kind"`
	Address string      `json:"address"` // where its API begins, without a slash at the end

	Token string `json:"token,omitempty"` // that linkding wants

	// What Wallabag wants.
	ClientID     string `json:"client_id,omitempty"`
	ClientSecret string `json:"client_secret,omitempty"`
	User         string `json:"user,omitempty"`
	Password     string `json:"password,omitempty"`
}

// ErrService is wrapped by errors about a Service that is none.
var ErrService = errors.New("that cannot be used")

// maxField bounds each field of a service, in bytes.
const maxField = 1000

// NewService is the service whose fields somebody typed. The error says what is wrong with them.
func NewService(s Service) (Service, error) {
	for _, field := range []string{s.Address, s.Token, s.ClientID, s.ClientSecret, s.User, s.Password} {
		if len(field) > maxField {
			return Service{}, fmt.Errorf("%w: a field has more than %d bytes", ErrService, maxField)
		}
	}
	var missing string
	switch s.Kind {
	case Wallabag:
		s.Token = ""
		if s.ClientID == "" || s.ClientSecret == "" || s.User == "" || s.Password == "" {
			missing = "Wallabag wants the id and the secret of an API client, a user name and a password"
		}
	case Linkding:
		s.ClientID, s.ClientSecret, s.User, s.Password = "", "", "", ""
		if s.Token == "" {
			missing = "linkding wants an API token"
		}
		if strings.ContainsFunc(s.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			missing = "an API token has no blanks and no letters beyond ASCII"
		}
	default:
		missing = "it is neither Wallabag nor linkding"
	}
	if missing != "" {
		return Service{}, fmt.Errorf("%w: %s", ErrService, missing)
	}
	u, err := url.Parse(strings.TrimSpace(s.Address))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return Service{}, fmt.Errorf("%w: its address is one such as https://links.example.org, without a name, "+
			"a password or anything behind \"?\"", ErrService)
	}
	s.Address = strings.TrimRight(u.String(), "/")
	return s, nil
}

// Name is what the service is called.
func (s Service) Name() string {
	switch s.Kind {
	case Wallabag:
		return "Wallabag"
	case Linkding:
		return "linkding"
	}
	return ""
}

// Host is where it is, for people.
func (s Service) Host() string { return s.url().Host }

// Hostname is the name of that host, or its address.
func (s Service) Hostname() string { return s.url().Hostname() }

func (s Service) url() *url.URL {
	u, err := url.Parse(s.Address)
	if err != nil {
		return new(url.URL)
	}
	return u
}

// String names the service, and nothing that lets anybody in.
func (s Service) String() string { return s.Name() + " at " + s.Host() }

// Shown is the service without what lets anybody in.
func (s Service) Shown() Service { return Service{Kind: s.Kind, Address: s.Address} }

// A Bookmark is an entry as services take it.
type Bookmark struct{ Link, Title string }

// A Client saves entries. It is safe for concurrent use.
type Client struct{ http *http.Client }

const (
	// patience is how long a service may take for all of it.
	patience = 20 * time.Second
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 1 << 20
	// maxWords is how much of what a service says is shown, in bytes.
	maxWords = 200
)

// NewClient makes a client that reaches services by a dialer.
func NewClient(d *net.Dialer) *Client {
	return &Client{&http.Client{
		Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true,
			MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}
}

// Save gives the service an entry. One that it has already stays as it is there: Wallabag sees to that itself, linkding
// would write over what its owner noted. The error says in words what is wrong, and nothing that lets anybody in.
func (c *Client) Save(ctx context.Context, s Service, b Bookmark) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	authorization, path := "Token "+s.Token, "/api/bookmarks/"
	if s.Kind == Wallabag {
		token, err := c.wallabagToken(ctx, s)
		if err != nil {
			return err
		}
		authorization, path = "Bearer "+token, "/api/entries.json"
	} else if has, err := c.linkdingHas(ctx, s, authorization, b.Link); err != nil || has {
		return err
	}
	body, err := json.Marshal(struct {
		URL   string `json:"url"`
		Title string `json:"title,omitempty"`
	}{b.Link, b.Title})
	if err != nil {
		return err
	}
	var saved struct {
		ID int64 `json:"id"`
	}
	if err := c.send(ctx, s, http.MethodPost, path, "application/json", authorization, body, &saved); err != nil {
		return err
	}
	if saved.ID == 0 {
		return notThatService(s)
	}
	return nil
}

// wallabagToken gets the token with which Wallabag lets its user in for an hour.
func (c *Client) wallabagToken(ctx context.Context, s Service) (string, error) {
	form := url.Values{"grant_type": {"password"}, "client_id": {s.ClientID}, "client_secret": {s.ClientSecret},
		"username": {s.User}, "password": {s.Password}}
	var grant struct {
		Token string `json:"access_token"`
	}
	err := c.send(ctx, s, http.MethodPost, "/oauth/v2/token", "application/x-www-form-urlencoded", "",
		[]byte(form.Encode()), &grant)
	if err != nil {
		return "", err
	}
	if grant.Token == "" {
		return "", notThatService(s)
	}
	return grant.Token, nil
}

// linkdingHas reports whether linkding has a bookmark of an address.
func (c *Client) linkdingHas(ctx context.Context, s Service, authorization, link string) (bool, error) {
	var known struct {
		Bookmark json.RawMessage `json:"bookmark"` // null where it has none
	}
	path := "/api/bookmarks/check/?" + url.Values{"url": {link}}.Encode()
	if err := c.send(ctx, s, http.MethodGet, path, "", authorization, nil, &known); err != nil {
		return false, err
	}
	if string(known.Bookmark) == "null" {
		return false, nil
	}
	var bookmark struct {
		ID int64 `json:"id"`
	}
	if json.Unmarshal(known.Bookmark, &bookmark) != nil || bookmark.ID == 0 {
		return false, notThatService(s)
	}
	return true, nil
}

// send sends a body, where there is one, to a path of the service, and reads the answer.
func (c *Client) send(ctx context.Context, s Service, method, path, mediaType, authorization string, body []byte,
	answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, s.Address+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s cannot be asked: %w", s.Host(), err)
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "feedex")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%s did not answer within %d seconds", s.Host(), int(patience/time.Second))
		}
		return fmt.Errorf("%s did not answer: %w", s.Host(), err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fmt.Errorf("%s leads to %s, where nothing was sent: if that is the service, enter its address in the "+
			"settings", s.Address, safehtml.Line(shortened(resp.Header.Get("Location"))))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return refusal(s, resp, text)
	case err != nil:
		return fmt.Errorf("%s broke off its answer: %w", s.Host(), err)
	case json.Unmarshal(text, answer) != nil:
		return notThatService(s)
	}
	return nil
}

// refusal says why the service refused, in its words where it has some.
func refusal(s Service, resp *http.Response, text []byte) error {
	var said struct {
		Description string   `json:"error_description"` // Wallabag
		Detail      string   `json:"detail"`            // linkding
		URL         []string `json:"url"`               // linkding, of a bookmark
	}
	words := ""
	if json.Unmarshal(text, &said) == nil {
		for _, w := range append([]string{said.Description, said.Detail}, said.URL...) {
			if words == "" && w != "" {
				words = ": " + safehtml.Line(shortened(w))
			}
		}
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s does not take what the settings say to be let in%s", s.Host(), words)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return notThatService(s)
	}
	return fmt.Errorf("%s refused it, with status %d%s", s.Host(), resp.StatusCode, words)
}

// notThatService says that something else is at the address.
func notThatService(s Service) error {
	return fmt.Errorf("what is at %s does not answer as %s does: is the address right?", s.Address, s.Name())
}

func shortened(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxWords)], "") }

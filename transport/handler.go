package transport

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"feedex/admission"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// A Request is a call that came in, well-formed and within its limits.
type Request struct {
	// From is the caller: the address of the connection, and the port that it states as its nid.
	// Paper §3: "The IP address of a node is taken implicitly […] from the connection".
	From    protocol.NodeID
	Session string // the token that came along, "" for none; at most protocol.MaxSessionBytes
	// Reversed says that it came over a reverse link that this node has opened to From.
	Reversed bool
	Call     protocol.Call
}

// A Response answers a Request: with Fault where that is not nil, else with Reply.
type Response struct {
	Reply   protocol.Reply
	Session string // token to send along, "" for none
	Fault   *protocol.Fault
}

// HandlerConfig holds the dependencies of a handler.
type HandlerConfig struct {
	// Methods are those that are served: protocol.NodeMethods() or protocol.TrackerMethods(). All
	// others are unknown.
	Methods []protocol.MethodSpec
	// Serve answers a call. It is called concurrently, ought to return once its context ends, as it
	// does when the caller goes away, and need not know the system methods. If it panics, the call is
	// cut off and the server logs why.
	Serve func(context.Context, Request) Response
	// TrustedProxies are the networks of reverse proxies that are believed when they say, by Forwarded or
	// X-Forwarded-For, where a call comes from. Default none.
	TrustedProxies []netip.Prefix
	// Hosting takes the reverse links of nodes that cannot be dialled. Default: they are refused.
	Hosting *Hosting
	// Meter counts calls that are answered. Default: none does.
	Meter *Meter
	// Log receives refused calls, at debug level. Default slog.Default().
	Log *slog.Logger
}

// NewHandler serves the protocol: POST requests to Path. A request that is no call of the protocol is answered by the
// handler itself, and never reaches cfg.Serve: with an HTTP status where HTTP has one for it, else with a fault.
func NewHandler(cfg HandlerConfig) http.Handler {
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	h := &handler{
		cfg:         cfg,
		methods:     make(map[string]protocol.MethodSpec, len(cfg.Methods)),
		memory:      memory{pool: admission.NewSharedPool[func()](budgetBytes/keptBytes, patience)},
		contentType: []string{"text/xml"},
		gzip:        []string{coding},
	}
	for _, m := range cfg.Methods {
		h.methods[m.Name] = m
		h.longest = max(h.longest, m.Call.Bytes)
	}
	return h
}

type handler struct {
	cfg     HandlerConfig
	methods map[string]protocol.MethodSpec
	longest int // call that any of them takes, in bytes
	buffers buffers
	memory  memory // of long messages

	contentType, gzip []string // values of headers
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	upgrade := linkAsked(r) != ""
	if status, reason := refusal(r, upgrade); status != 0 {
		refuse(w, r, status, reason)
		return
	}
	host := reversedBy(r.Context())
	caller, err := host.Addr(), error(nil)
	if host.IsZero() {
		caller, err = Caller(r, h.cfg.TrustedProxies)
	}
	switch {
	case err != nil:
		refuse(w, r, http.StatusBadRequest, err.Error())
		return
	case upgrade:
		h.cfg.Hosting.take(w, r, caller)
		return
	}
	claim := budget{of: &h.memory, from: caller, abort: func() {
		// which ends the context of a call that waits, too
		http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
	}}
	defer claim.release() // not before: what was decoded holds as much as what was read
	call, err := h.read(r, &claim)
	if status, reason := readFailure(err); status != 0 {
		refuse(w, r, status, reason)
		return
	}
	// The deadline was for reading. Left standing, it would end the context of a call that waits.
	http.NewResponseController(w).SetReadDeadline(time.Time{})

	out := h.buffers.take()
	defer h.buffers.give(out)
	session := ""
	if err == nil {
		out.data, session, err = h.answer(r, caller, call, out.data)
	}
	if fault, ok := errors.AsType[*protocol.Fault](err); ok {
		h.cfg.Log.Debug("call refused", "peer", caller, "call", call.Method, "err", fault)
		out.data = protocol.EncodeFault(out.data[:0], fault)
	}
	header := w.Header()
	header["Content-Type"] = h.contentType
	if codingOf(r.Header) == "" { // who sends gzip knows
		header["Accept-Encoding"] = h.gzip
	}
	body := out.data
	if takesCoding(r.Header) {
		short := h.buffers.take()
		defer h.buffers.give(short)
		if coded, ok := AppendCodedAnswer(short.data, body); ok {
			header["Content-Encoding"] = h.gzip
			short.data, body = coded, coded
		}
	}
	if len(body) > 2048 { // net/http counts shorter ones itself
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if session != "" {
		header[SessionHeader] = []string{session}
	}
	w.Write(body)
}

// read reads and decodes the body of a call. The error is a *protocol.Fault where a fault is the
// answer; see readFailure for the others.
func (h *handler) read(r *http.Request, claim *budget) (xmlrpc.Call, error) {
	if r.ContentLength > int64(h.longest) {
		return xmlrpc.Call{}, errTooLarge
	}
	buf := h.buffers.take()
	defer h.buffers.give(buf)
	if err := buf.readPrefix(r.Body, r.ContentLength); err != nil {
		return xmlrpc.Call{}, err
	}
	coded, start := codingOf(r.Header) != "", buf.data
	if coded {
		start = startOf(buf.data)
	}
	name, _ := xmlrpc.DecodeMethod(start)
	limits := protocol.CallLimits("") // an unknown method's
	if m, known := h.methods[name]; known {
		limits = m.Call
	}
	err := buf.readAll(r.Body, r.ContentLength, limits.Bytes, claim)
	claim.serve()
	if err == nil && coded {
		raw := buf
		buf = h.buffers.take()
		defer h.buffers.give(buf)
		err = buf.inflate(raw, min(limits.Bytes, maxInflation*len(raw.data)), claim)
	}
	if err == errBusy {
		return xmlrpc.Call{}, protocol.Faultf(protocol.Busy, "too many large calls at one time; try again later")
	}
	if err != nil {
		return xmlrpc.Call{}, err
	}
	call, err := xmlrpc.DecodeCall(buf.data, limits)
	switch {
	case errors.Is(err, xmlrpc.ErrLimit):
		return call, protocol.Faultf(protocol.TooLong, "%v", err)
	case err != nil:
		return call, protocol.Faultf(protocol.ParseError, "%v", err)
	}
	return call, nil
}

// readFailure is the HTTP status for an error of read, 0 if it is nil or a fault.
func readFailure(err error) (status int, reason string) {
	if _, ok := errors.AsType[*protocol.Fault](err); ok || err == nil {
		return 0, ""
	}
	switch {
	case errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge, "the body is longer than the method or its coding allows"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout, "the body came too slowly"
	}
	return http.StatusBadRequest, "the body did not come whole, or is no gzip"
}

// answer appends the answer to call to dst. The error is a *protocol.Fault.
func (h *handler) answer(r *http.Request, caller netip.Addr, c xmlrpc.Call, dst []byte) (body []byte,
	session string, err error) {
	if _, known := h.methods[c.Method]; !known {
		return dst, "", protocol.Faultf(protocol.UnknownMethod,
			"no method %.64q; system.listMethods lists those there are", c.Method)
	}
	if strings.HasPrefix(c.Method, "system.") {
		v, err := h.describe(c)
		if err != nil {
			return dst, "", err
		}
		return xmlrpc.AppendResponse(dst, v), "", nil
	}
	token := r.Header.Get(SessionHeader)
	if len(token) > protocol.MaxSessionBytes {
		return dst, "", protocol.Faultf(protocol.TooLong, "%s is %d bytes, the limit is %d", SessionHeader,
			len(token), protocol.MaxSessionBytes)
	}
	nid, call, err := protocol.DecodeCall(c)
	if err != nil {
		return dst, "", err
	}
	req := Request{From: protocol.NewNodeID(caller, nid), Session: token, Call: call}
	if host := reversedBy(r.Context()); !host.IsZero() {
		req.From, req.Reversed = host, true // whatever port it states
	}
	resp := h.cfg.Serve(r.Context(), req)
	h.cfg.Meter.answeredCall()
	if resp.Fault != nil {
		return dst, resp.Session, resp.Fault
	}
	return protocol.EncodeReply(dst, resp.Reply), resp.Session, nil
}

// refusal is the HTTP status with which r is refused for what its headers say, 0 if it is not. upgrade says that it
// asks for a reverse link.
func refusal(r *http.Request, upgrade bool) (status int, reason string) {
	switch {
	case r.URL.Path != Path:
		return http.StatusNotFound, "calls go to " + Path
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "calls are POST requests"
	case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
		// one whose name was made to lead here could (DNS rebinding)
		return http.StatusForbidden, "web pages make no calls"
	case upgrade:
	case codingOf(r.Header) != "" && codingOf(r.Header) != coding:
		return http.StatusUnsupportedMediaType, "no Content-Encoding but gzip is accepted"
	case !isXML(r.Header.Get("Content-Type")):
		return http.StatusUnsupportedMediaType, "want Content-Type text/xml in UTF-8"
	}
	return 0, ""
}

// isXML reports whether a Content-Type is that of a call. One that is missing is not: a web page can
// make a browser post without it, or as plain text, to any address, but not as XML.
func isXML(contentType string) bool {
	if contentType == "text/xml" { // as nearly everybody writes it
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "text/xml" && media != "application/xml" {
		return false
	}
	charset, stated := params["charset"]
	return !stated || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "us-ascii")
}

// refuse answers with an HTTP status. The rest of the body is not waited for.
func refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	http.Error(w, reason, status)
}

package lab

import (
	"errors"
	"fmt"
	"strings"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// A codec sends messages through the real XML-RPC codec, and counts their bytes as transport would write
// them. What comes out takes the place of what went in, so that nothing travels that the wire cannot
// carry. What the codec refuses is a fault in the program: it panics.
type codec struct {
	buf []byte
}

// userAgent is as long as that of the daemon.
const userAgent = "feedex/0.1.0"

// packet is the longest body of a check_did, as in transport: a longer one goes without its hint.
const packet = 900

// call sends a call on its way to a host of that name through the codec.
func (c *codec) call(w *World, open *openCall, host string) {
	if w.config.NoEncoding {
		return
	}
	call, port := open.call, open.from.ID.Port()
	c.buf = protocol.EncodeCall(c.buf[:0], port, call)
	if check, ok := call.(protocol.CheckDID); ok && len(c.buf) > packet {
		c.buf = protocol.EncodeCall(c.buf[:0], port, protocol.CheckDID{DID: check.DID})
	}
	open.bytes = int64(requestBytes(host, open.session, len(c.buf)))
	raw, err := xmlrpc.DecodeCall(c.buf, protocol.CallLimits(call.Method()))
	if err != nil {
		panic(fmt.Sprintf("lab: %s: %v", call.Method(), err))
	}
	if _, open.call, err = protocol.DecodeCall(raw); err != nil {
		panic(fmt.Sprintf("lab: %s: %v", call.Method(), err))
	}
}

// reply sends the answer to a call through the codec.
func (c *codec) reply(w *World, open *openCall, r node.Respond) protocol.Reply {
	if w.config.NoEncoding {
		return r.Reply
	}
	c.buf = protocol.EncodeReply(c.buf[:0], r.Reply)
	open.answered = int64(responseBytes(r.Session, len(c.buf)))
	v, err := xmlrpc.DecodeResponse(c.buf, protocol.AnswerLimits(open.call.Method()))
	if err == nil {
		var reply protocol.Reply
		if reply, err = protocol.DecodeReply(open.call, v); err == nil {
			return reply
		}
	}
	panic(fmt.Sprintf("lab: answer to %s: %v", open.call.Method(), err))
}

// maxFaultText is how much of a fault's text transport keeps.
const maxFaultText = 256

// fault sends a refusal through the codec.
func (c *codec) fault(w *World, open *openCall, r node.Respond) error {
	text := r.Fault.Text
	if !w.config.NoEncoding {
		c.buf = protocol.EncodeFault(c.buf[:0], r.Fault)
		open.answered = int64(responseBytes(r.Session, len(c.buf)))
		_, err := xmlrpc.DecodeResponse(c.buf, protocol.AnswerLimits(open.call.Method()))
		var f *xmlrpc.Fault
		if !errors.As(err, &f) || protocol.Code(f.Code) != r.Fault.Code {
			panic(fmt.Sprintf("lab: fault %v came out as %v", r.Fault, err))
		}
		text = strings.TrimPrefix(f.String, r.Fault.Code.String()+": ")
	}
	if len(text) > maxFaultText {
		text = text[:maxFaultText]
	}
	return &protocol.RemoteError{Code: r.Fault.Code, Text: feed.Clean(text)}
}

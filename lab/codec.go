package lab

import (
	"errors"
	"fmt"
	"strings"

	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
	"feedex/transport"
	"feedex/xmlrpc"
)

// A codec writes messages as transport would, and counts their bytes. It reads the first of each method and then one of
// sampleEvery as well: what comes out takes the place of what went in, so that nothing travels for long that the wire
// cannot carry. A message that the codec refuses is a fault in the program: it panics.
type codec struct {
	buf, coded     []byte
	calls, replies [Methods]int // so far
}

// sampleEvery is how many messages of a method there are to each that is decoded.
const sampleEvery = 256

// sampled counts a message, and reports whether it is to be decoded.
func (w *World) sampled(count *int) bool {
	*count++
	return w.config.EveryMessage || *count%sampleEvery == 1
}

// userAgent is as long as that of the daemon.
const userAgent = "feedex/0.1.0"

// call sends a call on its way. A check_did that is too long for a packet goes without its hint, as in transport.
func (c *codec) call(w *World, open *inFlightCall) {
	if w.config.NoEncoding {
		return
	}
	port := open.from.seen.Port()
	c.buf = protocol.EncodeCall(c.buf[:0], port, open.made.Call)
	if check, ok := open.made.Call.(protocol.CheckDID); ok && len(c.buf) > protocol.MaxCheckBytes {
		open.made.Call = protocol.CheckDID{DID: check.DID}
		c.buf = protocol.EncodeCall(c.buf[:0], port, open.made.Call)
	}
	p := payload{length: len(c.buf)}
	if open.made.Session != "" { // who was called before said that it takes gzip
		p = c.payload(transport.AppendCodedCall)
	}
	open.coded = p.coded
	open.bytes = int64(requestBytes(hostBytes(open.made.To, open.to), open.made.Session, p))
	if w.sampled(&c.calls[methodOf(open.made.Call)]) {
		open.made.Call = c.decoded(open.made.Call)
	}
}

// payload is what goes of the message in buf to somebody who takes gzip.
func (c *codec) payload(code func(dst, body []byte) ([]byte, bool)) (p payload) {
	if c.coded, p.coded = code(c.coded[:0], c.buf); p.coded {
		return payload{len(c.coded), true}
	}
	return payload{length: len(c.buf)}
}

// hostBytes is how long the Host header of a call is.
func hostBytes(t node.Target, to *Host) int {
	switch {
	case t.Tracker != "":
		return len("tracker.example.net:7788")
	case t.Host != "":
		return len(t.Host)
	case to == nil: // nobody has the address
		return len(t.Node.String())
	}
	return to.addressBytes
}

// decoded is the call as it comes out of the codec.
func (c *codec) decoded(call protocol.Call) protocol.Call {
	raw, err := xmlrpc.DecodeCall(c.buf, protocol.CallLimits(call.Method()))
	if err == nil {
		_, call, err = protocol.DecodeCall(raw)
	}
	if err != nil {
		panic(fmt.Sprintf("lab: %s of %d bytes: %v", raw.Method, len(c.buf), err))
	}
	return call
}

// reply sends the answer to a call on its way.
func (c *codec) reply(w *World, open *inFlightCall, r node.Respond) protocol.Reply {
	if w.config.NoEncoding {
		return r.Reply
	}
	c.buf = protocol.EncodeReply(c.buf[:0], r.Reply)
	open.answered = int64(responseBytes(r.Session, c.payload(transport.AppendCodedAnswer), open.coded))
	if !w.sampled(&c.replies[methodOf(open.made.Call)]) {
		return r.Reply
	}
	v, err := xmlrpc.DecodeResponse(c.buf, protocol.AnswerLimits(open.made.Call.Method()))
	var reply protocol.Reply
	if err == nil {
		reply, err = protocol.DecodeReply(open.made.Call, v)
	}
	if err != nil {
		panic(fmt.Sprintf("lab: answer to %s of %d bytes: %v", open.made.Call.Method(), len(c.buf), err))
	}
	return reply
}

// maxFaultText is how much of a fault's text transport keeps.
const maxFaultText = 256

// fault sends a refusal through the codec.
func (c *codec) fault(w *World, open *inFlightCall, r node.Respond) error {
	text := r.Fault.Text
	if !w.config.NoEncoding {
		c.buf = protocol.EncodeFault(c.buf[:0], r.Fault)
		open.answered = int64(responseBytes(r.Session, c.payload(transport.AppendCodedAnswer), open.coded))
		_, err := xmlrpc.DecodeResponse(c.buf, protocol.AnswerLimits(open.made.Call.Method()))
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

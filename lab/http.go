package lab

import (
	"strconv"

	"feedex/transport"
)

// The bytes that HTTP adds to a message, exactly as net/http writes it for transport. A test compares them with what
// passes over a real connection. A call with a session is taken for one to a peer that was called before, and so may be
// coded: but for the first that answers a peer's own calls, it is.

// requestBytes is the length of a call's request with a host's name and a body of those lengths.
func requestBytes(host int, session string, p payload) int {
	n := len("POST "+transport.Path+" HTTP/1.1\r\n") + header("Host", host) + p.headers() +
		header("Accept-Encoding", len("gzip")) + len("\r\n") + p.length
	if session != "" {
		return n + header(transport.SessionHeader, len(session))
	}
	return n + header("User-Agent", len(userAgent))
}

// responseBytes is the length of its answer. coded says that the call's body was: others are told that it may be.
func responseBytes(session string, p payload, coded bool) int {
	n := len("HTTP/1.1 200 OK\r\n") + p.headers() + header("Date", len("Mon, 02 Jan 2006 15:04:05 GMT")) +
		len("\r\n") + p.length
	if !coded {
		n += header("Accept-Encoding", len("gzip"))
	}
	if session != "" {
		n += header(transport.SessionHeader, len(session))
	}
	return n
}

// A payload is what travels of a message's body.
type payload struct {
	length int // in bytes
	coded  bool
}

// headers is the length of those that say what it is.
func (p payload) headers() int {
	n := header("Content-Length", digits(p.length)) + header("Content-Type", len("text/xml"))
	if p.coded {
		n += header("Content-Encoding", len("gzip"))
	}
	return n
}

// header is the length of a header line.
func header(name string, value int) int { return len(name) + len(": ") + value + len("\r\n") }

// digits is how long n is as a number.
func digits(n int) int {
	var buf [20]byte
	return len(strconv.AppendInt(buf[:0], int64(n), 10))
}

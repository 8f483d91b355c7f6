package lab

import (
	"strconv"

	"feedex/transport"
)

// The bytes that HTTP adds to a message, exactly as net/http writes it for transport. A test compares them with what
// passes over a real connection.

// requestBytes is the length of a call's request with a host's name and a body of those lengths.
func requestBytes(host int, session string, body int) int {
	n := len("POST "+transport.Path+" HTTP/1.1\r\n") + header("Host", host) + header("Content-Length", digits(body)) +
		header("Content-Type", len("text/xml")) + len("\r\n") + body
	if session != "" {
		return n + header(transport.SessionHeader, len(session))
	}
	return n + header("User-Agent", len(userAgent))
}

// responseBytes is the length of its answer.
func responseBytes(session string, body int) int {
	n := len("HTTP/1.1 200 OK\r\n") + header("Content-Type", len("text/xml")) +
		header("Date", len("Mon, 02 Jan 2006 15:04:05 GMT")) + header("Content-Length", digits(body)) +
		len("\r\n") + body
	if session != "" {
		n += header(transport.SessionHeader, len(session))
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

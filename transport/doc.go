// Package transport carries the calls of the protocol as XML-RPC over HTTP: Client makes calls,
// NewHandler answers them, and Serve runs an HTTP server that strangers cannot bring down.
//
// Input from outside is bounded before it is looked at: the length of a message by its method, its depth and number of
// values by the codec, its time by deadlines, connections by a Limiter, and the memory of all messages together by a
// budget. Package admission says which caller gets what there is too little of.
package transport

const (
	// Path is where the protocol is served. XML-RPC clients take it for their default.
	Path = "/RPC2"
	// SessionHeader carries a session token, in calls and in answers. See protocol.Vouch.
	SessionHeader = "Feedex-Session"

	// maxHeaderBytes bounds the HTTP headers of a call and of an answer.
	maxHeaderBytes = 8 << 10
)

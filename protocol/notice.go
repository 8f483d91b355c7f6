package protocol

import (
	"math"
	"time"

	"feedex/feed"
	"feedex/xmlrpc"
)

// A Notice tells that a node polled a feed and its publisher answered: whoever follows the feed need not ask at once.
type Notice struct {
	Feed feed.URL
	Age  time.Duration // since that poll began, in whole seconds
	New  int           // entries that its node did not have before
	// Path lists the nodes that the notice went through, the one that polled first. The receiver, not the sender,
	// appends the sender; so it is empty where the sender polled itself.
	Path []NodeID
}

// Notify tells a neighbor of polls of feeds that both follow, by the caller and by others. The reply is Notices, of
// what the called node has to tell. An extension: a node that knows nothing of it polls at moments of its own.
type Notify struct{ Notices Notices }

// Notices is the reply to Notify.
type Notices []Notice

func (Notify) Method() string { return "feedex.polled" }

// Origin is the node that polled, by the word of sender and of those before it.
func (n *Notice) Origin(sender NodeID) NodeID {
	if len(n.Path) > 0 {
		return n.Path[0]
	}
	return sender
}

// encodeNotices writes an array of [feed, age, new, path].
func encodeNotices(list []Notice) xmlrpc.Array {
	return arrayOf(list, func(n Notice) xmlrpc.Array {
		return xmlrpc.Array{string(n.Feed), int64(n.Age / time.Second), int64(n.New), arrayOf(n.Path, NodeID.String)}
	})
}

// decodeNotices reads what notices make sense. Others are left out, as they move nobody's poll.
func decodeNotices(list xmlrpc.Array) (notices []Notice) {
	for _, v := range list {
		if n, ok := decodeNotice(v); ok {
			notices = append(notices, n)
		}
	}
	return notices
}

func decodeNotice(v xmlrpc.Value) (n Notice, ok bool) {
	parts, _ := v.(xmlrpc.Array)
	if len(parts) < 4 {
		return n, false
	}
	text, _ := parts[0].(string)
	age, isAge := parts[1].(int64)
	count, isCount := parts[2].(int64)
	path, isPath := parts[3].(xmlrpc.Array)
	u, err := feed.ParseURL(text)
	if err != nil || string(u) != text || !isAge || age < 0 || age > maxNoticeAge ||
		!isCount || count < 0 || count > math.MaxInt32 || !isPath || len(path) > MaxPath {
		return n, false
	}
	n = Notice{Feed: u, Age: time.Duration(age) * time.Second, New: int(count)}
	for _, v := range path {
		text, _ := v.(string)
		id, err := ParseNodeID(text)
		if err != nil {
			return n, false
		}
		n.Path = append(n.Path, id)
	}
	return n, true
}

// withNotices are the parameters of a call that may carry notices in an optional last struct.
func withNotices(list []Notice, first xmlrpc.Value) xmlrpc.Array {
	if len(list) == 0 {
		return xmlrpc.Array{first}
	}
	return xmlrpc.Array{first, xmlrpc.Struct{{Name: "polled", Value: encodeNotices(list)}}}
}

// notices reads the notices in an optional last struct.
func (m members) notices() []Notice { return decodeNotices(m.array("polled", MaxNotices)) }

package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"feedex/feed"
	"feedex/xmlrpc"
)

// Refused is what New is in the notice of a poll that the publisher refused: it wants to be asked less.
const Refused = -1

// A Notice tells that a node polled a feed and its publisher answered: whoever follows the feed need not ask at once.
type Notice struct {
	Feed feed.URL
	Age  time.Duration // since that poll began, in whole seconds
	New  int           // entries that its node did not have before, or Refused
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

// encodeNotices writes an array of strings, each of words: age, new, feed and the nodes of the path.
func encodeNotices(list []Notice) xmlrpc.Array {
	return arrayOf(list, func(n Notice) string {
		text := fmt.Sprintf("%d %d %s", n.Age/time.Second, n.New, n.Feed)
		for _, id := range n.Path {
			text += " " + nameOf(id)
		}
		return text
	})
}

// decodeNotices reads what notices make sense. Others are left out, as they move nobody's poll.
func decodeNotices(list xmlrpc.Array) (notices []Notice) {
	for _, v := range list {
		text, _ := v.(string)
		if n, ok := decodeNotice(strings.Split(text, " ")); ok {
			notices = append(notices, n)
		}
	}
	return notices
}

func decodeNotice(words []string) (n Notice, ok bool) {
	if len(words) < 3 || len(words) > 3+MaxPath {
		return n, false
	}
	age, err := strconv.ParseUint(words[0], 10, 31)
	count, err2 := strconv.ParseInt(words[1], 10, 32)
	u, err3 := feed.ParseURL(words[2])
	if err != nil || age > maxNoticeAge || err2 != nil || count < Refused || err3 != nil || string(u) != words[2] {
		return n, false
	}
	n = Notice{Feed: u, Age: time.Duration(age) * time.Second, New: int(count)}
	for _, word := range words[3:] {
		id, err := ParsePathNode(word)
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

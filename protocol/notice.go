package protocol

import (
	"crypto/ed25519"
	"encoding/base64"
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
	// Signature is of the node that polled, zero where that has no key.
	Signature PollSignature
}

// A PollSignature shows that a notice of a feed is by the node that polled: nobody else can tell of polls in the name
// of its key, nor tell an old poll as a new one to who heard of the node before.
type PollSignature struct {
	At    int64 // when the poll began, in Unix seconds by the clock of its node, which may be wrong
	Key   NodeKey
	bytes [ed25519.SignatureSize]byte
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

// Sign signs the notice of a poll that began at that time by the clock of its node, with the key of the node; none
// leaves it unsigned.
func (n *Notice) Sign(private ed25519.PrivateKey, at time.Time) {
	if n.Signature = (PollSignature{}); len(private) == ed25519.PrivateKeySize {
		n.Signature.At, n.Signature.Key = at.Unix(), NodeKeyOf(private)
		copy(n.Signature.bytes[:], ed25519.Sign(private, n.signedText()))
	}
}

// Signed reports whether the notice says that it is signed.
func (n *Notice) Signed() bool { return !n.Signature.Key.IsZero() }

// Verify reports whether the notice is signed with the key that it says.
func (n *Notice) Verify() bool {
	return n.Signed() && ed25519.Verify(n.Signature.Key[:], n.signedText(), n.Signature.bytes[:])
}

// signedText is what a signature signs: five lines, the first of which says for what.
func (n *Notice) signedText() []byte {
	return fmt.Appendf(nil, "feedex polled 1\n%d\n%d\n%s\n%s\n", n.Signature.At, n.New, n.Feed, n.Signature.Key)
}

// encodeNotices writes an array of strings, each of words: age, new, feed, where it is signed time, key and
// signature, and the nodes of the path.
func encodeNotices(list []Notice) xmlrpc.Array {
	return arrayOf(list, func(n Notice) string {
		text := fmt.Sprintf("%d %d %s", n.Age/time.Second, n.New, n.Feed)
		if n.Signed() {
			key := strings.TrimPrefix(n.Signature.Key.String(), nodeKeyPrefix)
			signature := base64.RawURLEncoding.EncodeToString(n.Signature.bytes[:])
			text += fmt.Sprintf(" %d %s %s", n.Signature.At, key, signature)
		}
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
	if len(words) < 3 {
		return n, false
	}
	age, err := strconv.ParseUint(words[0], 10, 31)
	count, err2 := strconv.ParseInt(words[1], 10, 32)
	u, err3 := feed.ParseURL(words[2])
	if err != nil || age > maxNoticeAge || err2 != nil || count < Refused || err3 != nil || string(u) != words[2] ||
		strconv.FormatUint(age, 10) != words[0] || strconv.FormatInt(count, 10) != words[1] {
		return n, false
	}
	n = Notice{Feed: u, Age: time.Duration(age) * time.Second, New: int(count)}
	path := words[3:]
	if len(path) >= 3 && !strings.Contains(path[0], ":") { // as every node's name does
		if n.Signature, ok = decodePollSignature(path[0], path[1], path[2]); !ok {
			return n, false
		}
		path = path[3:]
	}
	if len(path) > MaxPath {
		return n, false
	}
	for _, word := range path {
		id, err := ParsePathNode(word)
		if err != nil {
			return n, false
		}
		n.Path = append(n.Path, id)
	}
	return n, true
}

func decodePollSignature(at, key, signature string) (s PollSignature, ok bool) {
	when, err := strconv.ParseUint(at, 10, 40)
	k, err2 := ParseNodeKey(nodeKeyPrefix + key)
	b, err3 := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || err2 != nil || err3 != nil || len(b) != len(s.bytes) || len(signature) != maxSignature ||
		len(k.String()) != len(nodeKeyPrefix+key) || strconv.FormatUint(when, 10) != at {
		return s, false
	}
	s.At, s.Key = int64(when), k
	copy(s.bytes[:], b)
	return s, true
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

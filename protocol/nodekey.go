package protocol

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// A NodeKey is the public key of a node (Ed25519, RFC 8032). It names the node wherever that is reached, for those to
// whom it proved that it has the private one. It is comparable. The zero NodeKey is none.
type NodeKey [ed25519.PublicKeySize]byte

// ErrNodeKey is wrapped by the errors of ParseNodeKey.
var ErrNodeKey = errors.New("not a node key")

// nodeKeyPrefix tells the text of a key from an address, and from keys of kinds to come.
const nodeKeyPrefix = "ed25519:"

// NodeKeyOf is the public key of a private one, the zero key for none.
func NodeKeyOf(private ed25519.PrivateKey) (k NodeKey) {
	if len(private) == ed25519.PrivateKeySize {
		copy(k[:], private[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
	}
	return k
}

// ParseNodeKey reads what String writes.
func ParseNodeKey(s string) (k NodeKey, err error) {
	text, named := strings.CutPrefix(s, nodeKeyPrefix)
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !named || err != nil || len(b) != len(k) || NodeKey(b) == (NodeKey{}) {
		return NodeKey{}, fmt.Errorf("%w: %.64q: want %s and 43 characters of base64url", ErrNodeKey, s, nodeKeyPrefix)
	}
	return NodeKey(b), nil
}

// String writes the key as "ed25519:" and 43 characters of base64url (RFC 4648 §5, without padding), and "" for none.
func (k NodeKey) String() string {
	if k.IsZero() {
		return ""
	}
	return nodeKeyPrefix + base64.RawURLEncoding.EncodeToString(k[:])
}

// IsZero reports whether there is no key.
func (k NodeKey) IsZero() bool { return k == NodeKey{} }

// MarshalText writes the key as String does.
func (k NodeKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *NodeKey) UnmarshalText(text []byte) (err error) {
	if *k = (NodeKey{}); len(text) > 0 {
		*k, err = ParseNodeKey(string(text))
	}
	return err
}

// A KeyProof shows to whom a node speaks: that the node which answers at an address has the private half of a key. It
// is the reply to a Vouch that has one.
type KeyProof struct {
	// Dialled is the address at which its maker reached the node for which it is. Who knows itself by another one
	// believes nothing: somebody in between passes on the proof of a node for one of his own.
	Dialled NodeID
	// Signature is 64 bytes in base64url.
	Signature string
}

// A Purpose is what a proof is for: one that was made for something else proves nothing.
type Purpose string

// The purposes of proofs.
const (
	ProvesLink    Purpose = "feedex link 1"    // feedex.vouch
	ProvesReverse Purpose = "feedex reverse 1" // a reverse link that is opened
)

// ProveKey makes the proof for the node that has the key verifier, was reached at dialled, and drew the challenge.
func ProveKey(private ed25519.PrivateKey, why Purpose, verifier NodeKey, challenge string, dialled NodeID) KeyProof {
	text := proofText(why, NodeKeyOf(private), verifier, challenge, dialled)
	return KeyProof{dialled, base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, text))}
}

// Proves reports whether the proof was made with the private half of signer, for verifier and its challenge.
func (p KeyProof) Proves(why Purpose, signer, verifier NodeKey, challenge string) bool {
	signature, err := base64.RawURLEncoding.Strict().DecodeString(p.Signature)
	return err == nil && !signer.IsZero() && challenge != "" &&
		ed25519.Verify(signer[:], proofText(why, signer, verifier, challenge, p.Dialled), signature)
}

// proofText is what a KeyProof signs: five lines, the first of which says for what.
func proofText(why Purpose, signer, verifier NodeKey, challenge string, dialled NodeID) []byte {
	return []byte(string(why) + "\n" + challenge + "\n" + verifier.String() + "\n" + signer.String() + "\n" +
		dialled.String() + "\n")
}

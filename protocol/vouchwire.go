package protocol

import (
	"encoding/base64"
	"strings"

	"feedex/xmlrpc"
)

// Bounds of the members that are about keys: those of kinds to come are longer.
const (
	maxChallengeBytes = 64
	maxProofBytes     = 2048
)

// challengeBytes is how many bytes of chance a challenge is drawn from.
const challengeBytes = 32

// ChallengeOf is a challenge made of 32 bytes that nobody can foretell.
func ChallengeOf(chance [challengeBytes]byte) string {
	return base64.RawURLEncoding.EncodeToString(chance[:])
}

// keyMembers are the members by which a node says that it has a key, and what the other is to sign.
func keyMembers(k NodeKey, challenge string) xmlrpc.Struct {
	return xmlrpc.Struct{{Name: "key", Value: k.String()}, {Name: "challenge", Value: challenge}}
}

// proofMembers are those of a KeyProof.
func proofMembers(p KeyProof) xmlrpc.Struct {
	return xmlrpc.Struct{{Name: "dialled", Value: p.Dialled.String()}, {Name: "proof", Value: p.Signature}}
}

// key reads keyMembers. A key or a challenge of a kind that this version does not know is none: its owner is met as one
// without.
func (m members) key() (NodeKey, string) {
	text, _ := m.lookup("key")
	challenge, _ := m.lookup("challenge")
	key, _ := text.(string)
	line, _ := challenge.(string)
	k, err := ParseNodeKey(key)
	if err != nil || line == "" || len(line) > maxChallengeBytes || strings.Trim(line, base64url) != "" {
		return NodeKey{}, ""
	}
	return k, line
}

// base64url are the characters of base64url.
const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// proof reads proofMembers. One that makes no sense proves nothing.
func (m members) proof() (p KeyProof) {
	p.Dialled, _ = ParseNodeID(m.string("dialled", MaxLabelBytes))
	p.Signature = m.string("proof", maxProofBytes)
	return p
}

func encodeVouch(c Vouch) xmlrpc.Array {
	list := xmlrpc.Array{c.Session}
	if !c.Key.IsZero() {
		list = append(list, append(keyMembers(c.Key, c.Challenge), proofMembers(c.Proof)...))
	}
	return list
}

func decodeVouch(p *params) (c Vouch) {
	c.Session = p.string("session", MaxSessionBytes)
	hint := p.hint()
	if c.Key, c.Challenge = hint.key(); !c.Key.IsZero() {
		c.Proof = hint.proof()
	}
	return c
}

func encodeVouchReply(r VouchReply) xmlrpc.Value {
	if p, is := r.(KeyProof); is {
		return proofMembers(p)
	}
	return r.standsBy()
}

func decodeVouchReply(p *params) Reply {
	if len(p.list) == 1 {
		if s, is := p.list[0].(xmlrpc.Struct); is {
			return members{list: s, where: "answer", err: &p.err}.proof()
		}
	}
	return Vouched(p.bool("answer"))
}

package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"feedex/protocol"
	"feedex/xmlrpc"
)

func TestNodeKeys(t *testing.T) {
	key := protocol.NodeKeyOf(callerKey)
	text := key.String()
	if back, err := protocol.ParseNodeKey(text); err != nil || back != key || len(text) != len("ed25519:")+43 {
		t.Errorf("%s reads as %v, %v", text, back, err)
	}
	if none := protocol.NodeKeyOf(nil); !none.IsZero() || none.String() != "" {
		t.Errorf("no private key has the public one %v", none)
	}
	for _, s := range []string{"", "ed25519:", text[:len(text)-1], text + "A", text + "=", "Ed25519:" + text[8:],
		text[8:], "ml-dsa:" + text[8:], "192.0.2.7:7790", strings.Replace(text, "_", "/", 1),
		text[:len(text)-1] + "p", // bits behind the last byte
		"ed25519:" + strings.Repeat("A", 43)} {
		if k, err := protocol.ParseNodeKey(s); !errors.Is(err, protocol.ErrNodeKey) {
			t.Errorf("%q is the key %v, %v", s, k, err)
		}
	}
}

// A key of a kind that is not known, or a challenge that could pass for more lines than one, is as none at all.
func TestWhatCountsAsNoKey(t *testing.T) {
	key := protocol.NodeKeyOf(callerKey).String()
	for _, hint := range []structure{
		{{Name: "key", Value: "ml-dsa:" + strings.Repeat("A", 1800)}, {Name: "challenge", Value: callerChallenge}},
		{{Name: "key", Value: key}},
		{{Name: "key", Value: key}, {Name: "challenge", Value: "AQ\n" + key}},
		{{Name: "challenge", Value: callerChallenge}},
		{{Name: "key", Value: int64(1)}, {Name: "challenge", Value: callerChallenge}},
		{{Name: "key", Value: key}, {Name: "challenge", Value: array{}}},
		{{Name: "key", Value: key}, {Name: "challenge", Value: strings.Repeat("A", 65)}},
	} {
		call := xmlrpc.Call{Method: "connect", Params: array{int64(7790), array{}, hint}}
		_, got, err := protocol.DecodeCall(call)
		if c, _ := got.(protocol.Connect); err != nil || !c.Key.IsZero() || c.Challenge != "" {
			t.Errorf("%.80v reads as %+v, %v", hint, got, err)
		}
	}
}

// A proof holds for its signer, its verifier, its challenge and the address that was dialled, and for nothing else.
func TestKeyProofs(t *testing.T) {
	signer, verifier, at := protocol.NodeKeyOf(callerKey), protocol.NodeKeyOf(calledKey), mustNode("192.0.2.7:7790")
	p := protocol.ProveKey(callerKey, protocol.ProvesLink, verifier, calledChallenge, at)
	elsewhere, other := p, p
	elsewhere.Dialled = mustNode("192.0.2.7:7791")
	other.Signature = protocol.ProveKey(calledKey, protocol.ProvesLink, verifier, calledChallenge, at).Signature
	for _, c := range []struct {
		name             string
		proof            protocol.KeyProof
		signer, verifier protocol.NodeKey
		challenge        string
		want             bool
	}{
		{"as it was made", p, signer, verifier, calledChallenge, true},
		{"of another key", p, verifier, verifier, calledChallenge, false},
		{"for another node", p, signer, signer, calledChallenge, false},
		{"for another challenge", p, signer, verifier, callerChallenge, false},
		{"for none", protocol.ProveKey(callerKey, protocol.ProvesLink, verifier, "", at), signer, verifier, "", false},
		{"another address", elsewhere, signer, verifier, calledChallenge, false},
		{"another signature", other, signer, verifier, calledChallenge, false},
		{"no key", p, protocol.NodeKey{}, verifier, calledChallenge, false},
		{"nothing", protocol.KeyProof{}, signer, verifier, calledChallenge, false},
	} {
		if got := c.proof.Proves(protocol.ProvesLink, c.signer, c.verifier, c.challenge); got != c.want {
			t.Errorf("%s: the proof holds: %v", c.name, got)
		}
	}
}

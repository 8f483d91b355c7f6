package webpush

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"feedex/notify/webpush/webpushtest"
)

// The example of RFC 8291, Appendix A.
const (
	rfcText     = "When I grow up, I want to be a watermelon"
	rfcSender   = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
	rfcReceiver = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
	rfcAuth     = "BTBZMqHH6r4Tts7J_aSIgg"
	rfcSalt     = "DGv6ra1nlYgDCS1FRnbzlw"
	rfcSealed   = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tl" +
		"zAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	someEndpoint  = "https://push.example/x"
	someP256DH    = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	maxBodyOfPush = 4096
)

func decoded(t *testing.T, s string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheExampleOfTheRFC(t *testing.T) {
	other, err := webpushtest.Of(someEndpoint, rfcReceiver, rfcAuth)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseSubscription(other.Subscription())
	if err != nil {
		t.Fatal(err)
	}
	own, err := ecdh.P256().NewPrivateKey(decoded(t, rfcSender))
	if err != nil {
		t.Fatal(err)
	}
	body, err := seal(r, own, decoded(t, rfcSalt), []byte(rfcText))
	if err != nil || base64.RawURLEncoding.EncodeToString(body) != rfcSealed {
		t.Errorf("sealed %s, %v", base64.RawURLEncoding.EncodeToString(body), err)
	}
	if text, err := other.Open(body); err != nil || string(text) != rfcText {
		t.Errorf("opened %q, %v", text, err)
	}
}

// Whatever is sealed is opened, by the receiver for which it was and by no other, and no two bodies are alike.
func TestSealedIsOpened(t *testing.T) {
	other, err := webpushtest.New(someEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := webpushtest.New(someEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseSubscription(other.Subscription())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, maxText).Draw(rt, "text")
		if rapid.IntRange(0, 9).Draw(rt, "long") == 0 {
			text = bytes.Repeat([]byte{2}, maxText)
		}
		body, err := Seal(r, text)
		if err != nil || len(body) > maxBodyOfPush {
			rt.Fatalf("%d bytes, %v", len(body), err)
		}
		if got, err := other.Open(body); err != nil || !bytes.Equal(got, text) {
			rt.Fatalf("opened %q, %v; want %q", got, err, text)
		}
		if got, err := stranger.Open(body); err == nil {
			rt.Fatalf("a stranger reads %q", got)
		}
		if again, err := Seal(r, text); err != nil || bytes.Equal(again, body) {
			rt.Fatalf("the same body twice, %v", err)
		}
	})
	if _, err := Seal(r, make([]byte, maxText+1)); err == nil {
		t.Error("a text is sealed that is too long")
	}
}

func TestParseSubscription(t *testing.T) {
	of := func(endpoint, key, auth string) string {
		return `{"endpoint":"` + endpoint + `","keys":{"p256dh":"` + key + `","auth":"` + auth +
			`"},"expirationTime":null}`
	}
	r, err := ParseSubscription([]byte(of(someEndpoint, someP256DH+"=", rfcAuth+"==")))
	if err != nil || r.Endpoint != someEndpoint {
		t.Fatalf("%+v, %v", r, err)
	}
	text, err := json.Marshal(r)
	if again, parsed := ParseSubscription(text); err != nil || parsed != nil || !again.key.Equal(r.key) ||
		!bytes.Equal(again.auth, r.auth) || again.Endpoint != r.Endpoint {
		t.Errorf("%s is read as %+v, %v, %v", text, again, err, parsed)
	}
	off := base64.RawURLEncoding.EncodeToString(append([]byte{4}, make([]byte, 64)...)) // a point of another curve
	for _, bad := range []string{
		"", "[]", `{"endpoint":7}`,
		of("http://push.example/", someP256DH, rfcAuth),
		of("https://", someP256DH, rfcAuth),
		of("https://user:password@push.example/", someP256DH, rfcAuth),
		of(someEndpoint+strings.Repeat("x", maxEndpoint), someP256DH, rfcAuth),
		of(someEndpoint, "", rfcAuth),
		of(someEndpoint, "?", rfcAuth),
		of(someEndpoint, off, rfcAuth),
		of(someEndpoint, someP256DH, ""),
		of(someEndpoint, someP256DH, rfcAuth+"AAAA"),
	} {
		if r, err := ParseSubscription([]byte(bad)); !errors.Is(err, ErrSubscription) {
			t.Errorf("%.60s is read as %+v, %v", bad, r, err)
		}
	}
}

func FuzzParseSubscription(f *testing.F) {
	other, err := webpushtest.New(someEndpoint)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(other.Subscription())
	f.Add([]byte(`{"endpoint":"https://push.example/x","keys":{"p256dh":"","auth":""}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSubscription(text)
		if err != nil {
			if !errors.Is(err, ErrSubscription) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if body, err := Seal(s, []byte("a message")); err != nil || len(body) > maxBodyOfPush {
			t.Errorf("%q takes no message: %v", text, err)
		}
	})
}

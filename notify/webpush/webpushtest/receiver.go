// Package webpushtest is the other side of Web Push for tests: a receiver that opens what was sealed for it, and checks
// who sent it, written after the RFCs and not after package webpush.
package webpushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// A Receiver is a browser or an app.
type Receiver struct {
	Endpoint string
	key      *ecdh.PrivateKey
	auth     []byte
}

// New makes a receiver with keys of chance.
func New(endpoint string) (*Receiver, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth) // which never fails
	return &Receiver{endpoint, key, auth}, nil
}

// Of makes a receiver of keys in base64url.
func Of(endpoint, private, auth string) (*Receiver, error) {
	bytes, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return nil, err
	}
	key, err := ecdh.P256().NewPrivateKey(bytes)
	if err != nil {
		return nil, err
	}
	secret, err := base64.RawURLEncoding.DecodeString(auth)
	return &Receiver{endpoint, key, secret}, err
}

// Subscription is the PushSubscription as browsers write it.
func (r *Receiver) Subscription() []byte {
	return fmt.Appendf(nil, `{"endpoint":%q,"expirationTime":null,"keys":{"p256dh":%q,"auth":%q}}`, r.Endpoint,
		base64.RawURLEncoding.EncodeToString(r.key.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(r.auth))
}

// Open is the text of a body: the salt, the size of records, the sender's key, and one record or several.
func (r *Receiver) Open(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) > 4096 {
		return nil, fmt.Errorf("%d bytes", len(body))
	}
	salt, size, n := body[:16], int(binary.BigEndian.Uint32(body[16:])), int(body[20])
	if len(body) < 21+n {
		return nil, errors.New("the header is short")
	}
	sender, err := ecdh.P256().NewPublicKey(body[21 : 21+n])
	if err != nil {
		return nil, err
	}
	shared, err := r.key.ECDH(sender)
	if err != nil {
		return nil, err
	}
	// HKDF of one block is an HMAC of the info and the byte 1, RFC 5869 §2.3.
	block := func(salt, secret []byte, info string, n int) []byte {
		return mac(mac(salt, secret), append([]byte(info), 1))[:n]
	}
	info := "WebPush: info\x00" + string(r.key.PublicKey().Bytes()) + string(sender.Bytes())
	ikm := block(r.auth, shared, info, 32)
	c, err := aes.NewCipher(block(salt, ikm, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(c)
	if err != nil {
		return nil, err
	}
	nonce := block(salt, ikm, "Content-Encoding: nonce\x00", 12)
	var text []byte
	for rest, i := body[21+n:], uint64(0); ; i++ {
		record := rest[:min(size, len(rest))]
		rest = rest[len(record):]
		own := append([]byte(nil), nonce...)
		binary.BigEndian.PutUint64(own[4:], binary.BigEndian.Uint64(own[4:])^i)
		part, err := gcm.Open(nil, own, record, nil)
		if err != nil {
			return nil, err
		}
		part = []byte(strings.TrimRight(string(part), "\x00"))
		if len(part) == 0 || part[len(part)-1] == 2 != (len(rest) == 0) {
			return nil, errors.New("the padding does not end as it must")
		}
		if text = append(text, part[:len(part)-1]...); len(rest) == 0 {
			return text, nil
		}
	}
}

func mac(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// A Claim is what a sender says of itself.
type Claim struct {
	Audience string `json:"aud"`
	Expires  int64  `json:"exp"`
	Subject  string `json:"sub"`
	Key      string `json:"-"`
}

// Verify checks the header Authorization of a request at now, as a push service does: RFC 8292 §2 to §4.
func Verify(authorization, origin string, now time.Time) (Claim, error) {
	var c Claim
	rest, ok := strings.CutPrefix(authorization, "vapid ")
	if !ok {
		return c, fmt.Errorf("the scheme of %q", authorization)
	}
	var token string
	for _, field := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case "t":
			token = value
		case "k":
			c.Key = value
		}
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, fmt.Errorf("a token of %d parts", len(parts))
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = base64.RawURLEncoding.DecodeString(part); err != nil {
			return c, err
		}
	}
	var header struct{ Typ, Alg string }
	if err := json.Unmarshal(raw[0], &header); err != nil || header.Typ != "JWT" || header.Alg != "ES256" {
		return c, fmt.Errorf("the token's header %s", raw[0])
	}
	if err := json.Unmarshal(raw[1], &c); err != nil {
		return c, err
	}
	point, err := base64.RawURLEncoding.DecodeString(c.Key)
	if err != nil {
		return c, err
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return c, err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch expires := time.Unix(c.Expires, 0); {
	case len(raw[2]) != 64 || !ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(raw[2][:32]),
		new(big.Int).SetBytes(raw[2][32:])):
		return c, errors.New("the signature is wrong")
	case c.Audience != origin:
		return c, fmt.Errorf("the token is for %s", c.Audience)
	case !expires.After(now) || expires.After(now.Add(24*time.Hour)):
		return c, fmt.Errorf("the token ends at %v", expires)
	}
	return c, nil
}

package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// tokenTime is for how long a push service may take a token: at most a day (RFC 8292 §2), less so that clocks may
// differ.
const tokenTime = 12 * time.Hour

// A Sender is who sends messages, by its key: receivers ask for messages of that key alone. The zero Sender has none.
type Sender struct {
	key *ecdsa.PrivateKey
	// Contact is where a push service finds who sends, "mailto:" or "https:", "" for nowhere: some services want one.
	Contact string
}

// NewSender is the sender that belongs to a secret, of 32 bytes at least: always the same.
func NewSender(secret []byte) (Sender, error) {
	for n := byte(0); ; n++ { // hardly any draw is no key
		scalar, err := hkdf.Key(sha256.New, secret, nil, "feedex: key for Web Push "+string('0'+rune(n)), 32)
		if err != nil {
			return Sender{}, fmt.Errorf("derive the key for Web Push: %w", err)
		}
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar); err == nil {
			return Sender{key: key}, nil
		} else if n == 9 {
			return Sender{}, fmt.Errorf("derive the key for Web Push: %w", err)
		}
	}
}

// PublicKey is the key as receivers name it when they ask for messages, the Push API's applicationServerKey; "" for the
// zero Sender.
func (s Sender) PublicKey() string {
	if s.key == nil {
		return ""
	}
	point, err := s.key.PublicKey.Bytes()
	if err != nil {
		panic("webpush: a key of P-256 has no point: " + err.Error()) // which no key has that was made here
	}
	return base64.RawURLEncoding.EncodeToString(point)
}

// Authorization is the header of that name for a request to the endpoint at now (RFC 8292 §3).
func (s Sender) Authorization(endpoint string, now time.Time) (string, error) {
	if s.key == nil {
		return "", errors.New("there is no key for Web Push")
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("read the address of a push service: %w", err)
	}
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub,omitempty"`
	}{u.Scheme + "://" + u.Host, now.Add(tokenTime).Unix(), s.Contact})
	if err != nil {
		return "", fmt.Errorf("write a token for a push service: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	digest := sha256.Sum256([]byte(token))
	x, y, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign a token for a push service: %w", err)
	}
	var signature [64]byte // of JWS's ES256: both numbers, RFC 7518 §3.4
	x.FillBytes(signature[:32])
	y.FillBytes(signature[32:])
	return "vapid t=" + token + "." + base64.RawURLEncoding.EncodeToString(signature[:]) + ", k=" + s.PublicKey(), nil
}

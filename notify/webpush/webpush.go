// Package webpush makes the messages of Web Push, as browsers and UnifiedPush apps take them: encrypted for one
// receiver (RFC 8291, in the content coding of RFC 8188), so that the push service between cannot read them, and with a
// proof of who sends them (RFC 8292, VAPID). It does no I/O: what is made here is the body and the headers of a
// request.
package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const (
	// maxText is how many bytes a message may have: a push service takes bodies of 4096 bytes at least (RFC 8030,
	// §7.2), of which 86 are the header, 16 the tag and one ends the padding.
	maxText = recordSize - headerBytes - 16 - 1

	recordSize  = 4096
	saltBytes   = 16
	keyBytes    = 65 // a point of P-256, uncompressed
	authBytes   = 16
	headerBytes = saltBytes + 4 + 1 + keyBytes
	maxEndpoint = 2048
)

// ErrSubscription is wrapped by the errors of ParseSubscription.
var ErrSubscription = errors.New("not a subscription to Web Push")

// A PushSubscription is by what one browser or app asked for messages, as the Push API names it.
type PushSubscription struct {
	Endpoint string          // https, the address at its push service: who knows it can disturb the receiver
	key      *ecdh.PublicKey // p256dh
	auth     []byte
}

// subscriptionJSON is the form in which browsers write a PushSubscription. Members that are not named mean nothing
// here.
type subscriptionJSON struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		P256DH string `json:"p256dh"`
		Auth   string `json:"auth"`
	} `json:"keys"`
}

// ParseSubscription reads what PushSubscription.toJSON gives in a browser. Push services are reached by https, which
// RFC 8030 asks for. The error wraps ErrSubscription.
func ParseSubscription(text []byte) (PushSubscription, error) {
	var j subscriptionJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return PushSubscription{}, fmt.Errorf("%w: %w", ErrSubscription, err)
	}
	u, err := url.Parse(j.Endpoint)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" ||
		len(j.Endpoint) > maxEndpoint {
		return PushSubscription{}, fmt.Errorf("%w: endpoint: want an address at https://", ErrSubscription)
	}
	point, err := unbase64(j.Keys.P256DH)
	if err != nil {
		return PushSubscription{}, fmt.Errorf("%w: p256dh: %w", ErrSubscription, err)
	}
	key, err := ecdh.P256().NewPublicKey(point)
	if err != nil {
		return PushSubscription{}, fmt.Errorf("%w: p256dh: want a point of P-256: %w", ErrSubscription, err)
	}
	auth, err := unbase64(j.Keys.Auth)
	if err != nil || len(auth) != authBytes {
		return PushSubscription{}, fmt.Errorf("%w: auth: want %d bytes in base64url", ErrSubscription, authBytes)
	}
	return PushSubscription{Endpoint: j.Endpoint, key: key, auth: auth}, nil
}

// MarshalJSON writes the subscription as ParseSubscription reads it.
func (s PushSubscription) MarshalJSON() ([]byte, error) {
	j := subscriptionJSON{Endpoint: s.Endpoint}
	j.Keys.P256DH = base64.RawURLEncoding.EncodeToString(s.key.Bytes())
	j.Keys.Auth = base64.RawURLEncoding.EncodeToString(s.auth)
	return json.Marshal(j)
}

// unbase64 reads base64url, with or without padding: receivers write both.
func unbase64(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}

// Seal encrypts a text for who subscribed: the body of a request with "Content-Encoding: aes128gcm". A text that is
// longer than maxText is an error.
func Seal(to PushSubscription, text []byte) ([]byte, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for a message: %w", err)
	}
	var salt [saltBytes]byte
	_, _ = rand.Read(salt[:]) // which never fails
	return seal(to, own, salt[:], text)
}

func seal(to PushSubscription, own *ecdh.PrivateKey, salt, text []byte) ([]byte, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("a message by Web Push has %d bytes at most, not %d", maxText, len(text))
	}
	secret, err := own.ECDH(to.key)
	if err != nil {
		return nil, fmt.Errorf("agree on a key with the receiver: %w", err)
	}
	aead, nonce, err := contentKeys(secret, to.auth, to.key, own.PublicKey(), salt)
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, headerBytes+len(text)+1+aead.Overhead())
	body = append(body, salt...)
	body = binary.BigEndian.AppendUint32(body, recordSize)
	body = append(body, keyBytes)
	body = append(body, own.PublicKey().Bytes()...)
	const last = 2 // what ends the text of the last record, RFC 8188 §2
	return aead.Seal(body, nonce, append(text[:len(text):len(text)], last), nil), nil
}

// contentKeys are what one message is encrypted with, by both sides' secret (RFC 8291 §3.4 and RFC 8188 §2.2).
func contentKeys(secret, auth []byte, receiver, sender *ecdh.PublicKey, salt []byte) (cipher.AEAD, []byte, error) {
	expand := func(prk []byte, info string, n int) ([]byte, error) { return hkdf.Expand(sha256.New, prk, info, n) }
	prk, err := hkdf.Extract(sha256.New, secret, auth)
	if err != nil {
		return nil, nil, fmt.Errorf("derive keys: %w", err)
	}
	ikm, err := expand(prk, "WebPush: info\x00"+string(receiver.Bytes())+string(sender.Bytes()), sha256.Size)
	if err != nil {
		return nil, nil, fmt.Errorf("derive keys: %w", err)
	}
	if prk, err = hkdf.Extract(sha256.New, ikm, salt); err != nil {
		return nil, nil, fmt.Errorf("derive keys: %w", err)
	}
	key, err := expand(prk, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, fmt.Errorf("derive keys: %w", err)
	}
	nonce, err := expand(prk, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, fmt.Errorf("derive keys: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, fmt.Errorf("derive keys: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	return aead, nonce, err
}

package control

import (
	"context"
	"errors"

	"feedex/reading"
)

// ReceiverChanges say where people are told of what their filters catch.
type ReceiverChanges interface {
	// AddReceiver has a person told at a receiver, or changes the one that they have of that name. The error wraps
	// reading.ErrName, ErrReceiver, ErrReceivers, ErrNoFilter or ErrNobody where that is the reason.
	AddReceiver(ctx context.Context, r ReceiverRequest) error
	// RemoveReceiver removes one with what waits for it. The error wraps ErrNoReceiver where there is none.
	RemoveReceiver(ctx context.Context, r ReceiverName) error
}

// ReceiverTrials finds out whether receivers are there.
type ReceiverTrials interface {
	// TryReceiver has a receiver told that it can be reached. The error says why it cannot, and wraps ErrNoReceiver
	// where there is none.
	TryReceiver(ctx context.Context, r ReceiverName) error
}

// A ReceiverRequest says where a person is to be told of what their filters catch, and of what; see reading.Receiver.
type ReceiverRequest struct {
	ReceiverName
	Kind    reading.ReceiverKind `json:"kind"`
	Address string               `json:"address"`
	// What is nil stays as the receiver of that name has it; but the first four, and the word, are for one server, and
	// stay as long as that does.
	Secret   *string               `json:"secret,omitempty"`
	Server   *string               `json:"server,omitempty"`
	Local    *bool                 `json:"local,omitempty"`
	Commands *string               `json:"commands,omitempty"`
	Filters  *[]string             `json:"filters,omitempty"` // by name; all that do not mute where there are none
	Quiet    *[2]reading.TimeOfDay `json:"quiet,omitempty"`   // from and to
	Digest   *[]reading.TimeOfDay  `json:"digest,omitempty"`
	Most     *int                  `json:"most,omitempty"`
	Word     reading.Hash          `json:"word,omitzero"` // of Commands
}

// A ReceiverName names a receiver.
type ReceiverName struct {
	Person string `json:"person,omitempty"` // whose it is, "" for the owner
	Name   string `json:"name"`
}

// ErrNoReceiver means that there is no receiver of that name.
var ErrNoReceiver = errors.New("there is no such receiver; see 'feedex notify list'")

// AddReceiver implements ReceiverChanges.
func (c *Client) AddReceiver(ctx context.Context, r ReceiverRequest) error {
	return callAddReceiver.tell(ctx, c, r)
}

// RemoveReceiver implements ReceiverChanges.
func (c *Client) RemoveReceiver(ctx context.Context, r ReceiverName) error {
	return callRemoveReceiver.tell(ctx, c, r)
}

// TryReceiver implements ReceiverTrials.
func (c *Client) TryReceiver(ctx context.Context, r ReceiverName) error {
	return callTryReceiver.tell(ctx, c, r)
}

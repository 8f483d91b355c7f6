package xmlrpc

import (
	"errors"
	"fmt"
)

var (
	// ErrSyntax is in every refusal of bytes that are not XML-RPC as this package reads it.
	ErrSyntax = errors.New("not XML-RPC")
	// ErrLimit is in every refusal of a message that goes beyond its MessageLimits.
	ErrLimit = errors.New("beyond a limit")
)

// A SyntaxError says where and why a message was refused. It wraps ErrSyntax or ErrLimit.
type SyntaxError struct {
	Offset int    // of the byte at which it was refused
	Reason string // short; may quote the name of an element, cut and escaped
	kind   error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("parse message at byte %d: %s", e.Offset, e.Reason)
}

// Unwrap returns ErrLimit where the message went beyond its limits, else ErrSyntax.
func (e *SyntaxError) Unwrap() error { return e.kind }

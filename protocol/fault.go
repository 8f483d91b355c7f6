package protocol

import (
	"errors"
	"fmt"
)

// A Code says why a call was refused. Codes are on the wire: append only, never reuse a number.
// Those below zero follow the XML-RPC interoperability list; those from 101 are feedex's own, away from
// the small numbers that XML-RPC libraries use for errors of any kind.
type Code int

const (
	ParseError      Code = -32700 // the body is not well-formed XML-RPC
	UnknownMethod   Code = -32601 // there is no such method here; system.listMethods lists those there are
	InvalidParams   Code = -32602 // too few parameters, or one of the wrong type or out of range
	Internal        Code = -32603 // our own failure; what it was stays in our log
	UnknownNeighbor Code = 101    // the caller is no neighbor: connect first
	NotVouched      Code = 102    // the node at the caller's address and port does not stand by the call
	Unreachable     Code = 103    // a call back to the caller's address and port failed
	UnwantedFeed    Code = 104    // the bundle's feed was not asked for
	BadBundle       Code = 105    // the bundle contradicts itself
	BadDID          Code = 106    // the bundle's did does not fit its content
	TooLong         Code = 107    // a list or text is longer than allowed
	Busy            Code = 108    // too much at once; try again later
	Unavailable     Code = 109    // entries cannot be stored at present; nothing was kept
	BadSubset       Code = 110    // nothing in the subset is of use
	Dropped         Code = 111    // the neighbor ended the link and wants no reconnect for a while
	ForgedSource    Code = 112    // the bundle came by way of a node that forged entries
	AtBound         Code = 113    // the caller owes too much to be answered
	Spent           Code = 114    // what is given within a while to others than neighbors is spent
	NotOffered      Code = 115    // the caller waits for no such bundle of this node's
	OverQuota       Code = 116    // the caller has brought enough that no own poll has shown
)

// String is the code's name as docs/PROTOCOL.md spells it; an unknown code is "internal error".
func (c Code) String() string {
	switch c {
	case ParseError:
		return "parse error"
	case UnknownMethod:
		return "unknown method"
	case InvalidParams:
		return "invalid parameters"
	case UnknownNeighbor:
		return "unknown neighbor"
	case NotVouched:
		return "not vouched"
	case Unreachable:
		return "unreachable"
	case UnwantedFeed:
		return "unwanted feed"
	case BadBundle:
		return "bad bundle"
	case BadDID:
		return "bad did"
	case TooLong:
		return "too long"
	case Busy:
		return "busy"
	case Unavailable:
		return "unavailable"
	case BadSubset:
		return "bad subset"
	case Dropped:
		return "dropped"
	case ForgedSource:
		return "forged source"
	case AtBound:
		return "at bound"
	case Spent:
		return "spent"
	case NotOffered:
		return "not offered"
	case OverQuota:
		return "over quota"
	}
	return "internal error"
}

// A Fault is a refusal that we send. As an error it means that we refuse, never that a peer did:
// what a peer sent is a RemoteError.
type Fault struct {
	Code Code
	Text string // what was wrong and, where it helps, what to do; no secrets, no paths
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %s", f.Code, f.Text) }

// Faultf makes a Fault with a formatted text.
func Faultf(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Text: fmt.Sprintf(format, args...)}
}

// faultf is Faultf as an error, for functions that return error.
func faultf(code Code, format string, args ...any) error { return Faultf(code, format, args...) }

// A RemoteError is a fault that a peer answered with. It says nothing about our own state.
type RemoteError struct {
	Code Code
	Text string
}

func (e *RemoteError) Error() string { return fmt.Sprintf("peer refused: %s: %s", e.Code, e.Text) }

// ErrReply is wrapped by the error of a call that was answered by what is no answer to it.
var ErrReply = errors.New("no answer to this call")

// Spoke reports whether a call that ended with err, nil for none, was answered in XML-RPC: be it by a fault, or by what
// is no answer to it.
func Spoke(err error) bool {
	_, refused := errors.AsType[*RemoteError](err)
	return err == nil || refused || errors.Is(err, ErrReply)
}

// AsFault is the Fault that err is or wraps; any other error is an Internal one, whose cause stays with
// us.
func AsFault(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Code: Internal, Text: "the node could not carry out the call"}
}

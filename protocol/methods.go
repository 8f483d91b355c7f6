package protocol

import (
	"slices"
	"strings"

	"feedex/xmlrpc"
)

// A MethodSpec describes one XML-RPC method, for system.listMethods, system.methodHelp and system.methodSignature, for
// a server that must bound a message before reading it, and for whoever writes and reads its calls and answers.
type MethodSpec struct {
	Name string
	Help string
	// Signatures are the ways to call it: the type of the answer and then of each parameter, as the
	// XML-RPC introspection convention has it.
	Signatures [][]string
	// Call and Answer bound a call's body and an answer's.
	Call, Answer xmlrpc.MessageLimits

	tracker string // its help at a tracker, "" where a tracker has none such; those of system are everywhere
	wire           // zero for what has no Call: transport answers it
}

// Bounds of message bodies. A check must fit in a packet, so a page of memory is plenty; a bundle may
// hold whole articles.
var (
	smallBody  = xmlrpc.MessageLimits{Bytes: 4 << 10, Depth: 8, Values: 64, StringBytes: 4 << 10}
	listBody   = xmlrpc.MessageLimits{Bytes: 64 << 10, Depth: 8, Values: 4096, StringBytes: 64 << 10}
	subsetBody = xmlrpc.MessageLimits{Bytes: 4 << 20, Depth: 8, Values: 40_000, StringBytes: 4 << 20}
	bundleBody = xmlrpc.MessageLimits{Bytes: 4 << 20, Depth: 12, Values: 64 << 10, StringBytes: MaxTextBytes}
	answerBody = xmlrpc.MessageLimits{Bytes: 1 << 20, Depth: 12, Values: 4096, StringBytes: 1 << 20}
)

// A wire is how the calls of a method, and the answers, become values and come of them.
type wire struct {
	calls       func(Call) bool                  // whether a call is of this method
	encode      func(Call) xmlrpc.Array          // its parameters after nid
	decode      func(*params) Call               // from the parameters after nid
	encodeReply func(Reply) (xmlrpc.Value, bool) // false for a reply of another type
	decodeReply func(*params) Reply              // from one value
}

// row describes a method whose calls are of type C, and whose replies are sent as R, which is V on the wire, and read
// as D. The signatures are words, with a comma between two of them.
func row[C Call, R, V, D any](name, help, signatures string, call, answer xmlrpc.MessageLimits,
	encode func(C) xmlrpc.Array, decode func(*params) C, encodeReply func(R) V,
	decodeReply func(*params) D) MethodSpec {
	m := described(name, help, signatures, call, answer)
	m.wire = wire{
		calls:  func(c Call) bool { _, is := c.(C); return is },
		encode: func(c Call) xmlrpc.Array { return encode(c.(C)) },
		decode: func(p *params) Call { return decode(p) },
		encodeReply: func(r Reply) (v xmlrpc.Value, is bool) {
			reply, is := r.(R)
			if is {
				v = encodeReply(reply)
			}
			return v, is
		},
		decodeReply: func(p *params) Reply { return decodeReply(p) },
	}
	return m
}

// described is a method that transport answers by itself.
func described(name, help, signatures string, call, answer xmlrpc.MessageLimits) MethodSpec {
	m := MethodSpec{Name: name, Help: help, Call: call, Answer: answer}
	for way := range strings.SplitSeq(signatures, ", ") {
		m.Signatures = append(m.Signatures, strings.Fields(way))
	}
	return m
}

// atTracker is the method with what a tracker says of it.
func (m MethodSpec) atTracker(help string) MethodSpec {
	m.tracker = help
	return m
}

// methodOf is the row of a call.
func methodOf(call Call) *MethodSpec {
	for i := range methods {
		if m := &methods[i]; m.calls != nil && m.calls(call) {
			return m
		}
	}
	panic("protocol: call of unknown type")
}

// methodCalled is the row of a name; an unknown one has no more than the smallest bounds.
func methodCalled(name string) *MethodSpec {
	for i := range methods {
		if methods[i].Name == name {
			return &methods[i]
		}
	}
	return &MethodSpec{Call: smallBody, Answer: smallBody}
}

// introspects reports whether the method is about methods: a call of it carries no nid.
func (m *MethodSpec) introspects() bool { return strings.HasPrefix(m.Name, "system.") }

// CallLimits bounds the body of a call of the named method; an unknown method gets the smallest.
func CallLimits(name string) xmlrpc.MessageLimits { return methodCalled(name).Call }

// AnswerLimits bounds the body of an answer of the named method.
func AnswerLimits(name string) xmlrpc.MessageLimits { return methodCalled(name).Answer }

// NodeMethods lists what a node answers to.
func NodeMethods() []MethodSpec { return slices.Clone(methods) }

// TrackerMethods lists what a tracker answers to.
func TrackerMethods() (list []MethodSpec) {
	for _, m := range methods {
		if m.tracker != "" {
			m.Help = m.tracker
		}
		if m.tracker != "" || m.introspects() {
			list = append(list, m)
		}
	}
	return list
}

package protocol

import (
	"math"

	"feedex/xmlrpc"
)

// encodeAccount writes {given, got, deficit, bound, waiting}.
func encodeAccount(a Statement) xmlrpc.Struct {
	return xmlrpc.Struct{
		{Name: "given", Value: a.Given}, {Name: "got", Value: a.Got}, {Name: "deficit", Value: a.Deficit},
		{Name: "bound", Value: a.Bound}, {Name: "waiting", Value: a.Waiting},
	}
}

func decodeAccount(p *params) Statement {
	m := p.structure("account")
	return Statement{
		Given:   m.int("given", 0, math.MaxInt64),
		Got:     m.int("got", 0, math.MaxInt64),
		Deficit: m.signed("deficit"),
		Bound:   m.signed("bound"),
		Waiting: m.int("waiting", 0, math.MaxInt32),
	}
}

package xmlrpc

import "fmt"

// A Fault is a refusal that the called side sent in place of a value.
type Fault struct {
	Code   int
	String string // as the other side worded it: not to be trusted, at most MessageLimits.StringBytes long
}

func (f *Fault) Error() string { return fmt.Sprintf("fault %d: %s", f.Code, f.String) }

// value is f as it stands in a message.
func (f Fault) value() Struct {
	return Struct{{"faultCode", int64(f.Code)}, {"faultString", f.String}}
}

// faultOf reads v as a fault. Members that it does not know are ignored.
func faultOf(v Value) (*Fault, bool) {
	s, _ := v.(Struct)
	code, _ := s.Lookup("faultCode")
	text, _ := s.Lookup("faultString")
	c, okCode := code.(int64)
	t, okText := text.(string)
	return &Fault{Code: int(c), String: t}, okCode && okText && int64(int(c)) == c
}

package xmlrpc

import (
	"fmt"
)

// A Call is a method's name and the parameters that it is called with.
type Call struct {
	Method string
	Params []Value
}

// maxMethodName is the longest name of a method, in bytes.
const maxMethodName = 255

// DecodeCall reads a methodCall. The error is a *SyntaxError, which wraps ErrSyntax or ErrLimit.
func DecodeCall(body []byte, lim MessageLimits) (Call, error) {
	d := newDecoder(body, lim)
	call, ok := d.call()
	if !ok {
		return Call{}, d.err
	}
	return call, nil
}

// DecodeMethod reads the name of the method from the first bytes of a methodCall, to choose the
// limits for the rest. It returns false where the name is not within these bytes, or where they are
// no beginning of a call.
func DecodeMethod(prefix []byte) (name string, ok bool) {
	d := newDecoder(prefix, MessageLimits{})
	return d.method()
}

// DecodeResponse reads a methodResponse. The error is a *Fault where the response carries one, else
// a *SyntaxError, which wraps ErrSyntax or ErrLimit.
func DecodeResponse(body []byte, lim MessageLimits) (Value, error) {
	d := newDecoder(body, lim)
	v, fault, ok := d.response()
	switch {
	case !ok:
		return nil, d.err
	case fault != nil:
		return nil, fault
	}
	return v, nil
}

// admit refuses what can be refused without reading the message.
func (d *decoder) admit() bool {
	if len(d.body) > d.limits.Bytes {
		d.pos = d.limits.Bytes
		return d.exceed(fmt.Sprintf("longer than %d bytes", d.limits.Bytes))
	}
	if !d.legible() || !d.withinValues(d.limits.Values) {
		return false
	}
	// A value takes some 64 bytes. A guess that is too large is so by little, one that is too small grows.
	guess := min(len(d.body)/64, 64)
	d.items, d.members = make([]Value, 0, guess), make([]Member, 0, guess/4)
	return true
}

func (d *decoder) call() (call Call, ok bool) {
	if !d.admit() {
		return Call{}, false
	}
	if call.Method, ok = d.method(); !ok {
		return Call{}, false
	}
	closing, ok := d.closing()
	if !ok {
		return Call{}, false
	}
	if !closing { // params may be missing where there are none
		if call.Params, ok = d.params(); !ok {
			return Call{}, false
		}
	}
	return call, d.close("methodCall") && d.finish()
}

// method reads a call up to the end of the method's name.
func (d *decoder) method() (name string, ok bool) {
	if !d.prolog() || !d.root("methodCall") {
		return "", false
	}
	empty, ok := d.open("methodName")
	if !ok {
		return "", false
	}
	text, ok := d.content("methodName", empty)
	if !ok {
		return "", false
	}
	if len(text) > maxMethodName {
		return "", d.exceed(fmt.Sprintf("method name longer than %d bytes", maxMethodName))
	}
	if !isMethod(text) {
		return "", d.refuse("malformed method name")
	}
	return string(text), true
}

// isMethod reports whether name is one that a method may have.
func isMethod(name []byte) bool {
	for _, c := range name {
		if (!isName(c) || c == '-' || c >= 0x80) && c != '/' {
			return false
		}
	}
	return len(name) > 0
}

// params reads the list of parameters.
func (d *decoder) params() (params []Value, ok bool) {
	empty, ok := d.open("params")
	if !ok || empty {
		return nil, ok
	}
	for {
		closing, ok := d.closing()
		if !ok {
			return nil, false
		}
		if closing {
			return params, d.end("params")
		}
		v, ok := d.wrapped("param")
		if !ok {
			return nil, false
		}
		params = append(params, v)
	}
}

// response reads a response, which carries either a value or a fault.
func (d *decoder) response() (v Value, fault *Fault, ok bool) {
	if !d.admit() || !d.prolog() || !d.root("methodResponse") || !d.skip() {
		return nil, nil, false
	}
	start := d.pos
	if d.at("<fault") {
		if v, ok = d.wrapped("fault"); !ok {
			return nil, nil, false
		}
		if fault, ok = faultOf(v); !ok {
			d.pos = start
			return nil, nil, d.refuse("fault without faultCode or faultString")
		}
	} else {
		params, ok := d.params()
		if !ok {
			return nil, nil, false
		}
		if len(params) != 1 {
			d.pos = start
			return nil, nil, d.refuse("response of other than one value")
		}
		v = params[0]
	}
	return v, fault, d.close("methodResponse") && d.finish()
}

// wrapped reads an element that holds one value and nothing else.
func (d *decoder) wrapped(name string) (v Value, ok bool) {
	empty, ok := d.open(name)
	if !ok {
		return nil, false
	}
	if empty {
		return nil, d.refuse("empty " + name)
	}
	if v, ok = d.value(); !ok {
		return nil, false
	}
	return v, d.close(name)
}

package xmlrpc

import "encoding/base64"

// CallLength is how many bytes AppendCall appends, and panics where that does.
func CallLength(method string, params ...Value) int {
	n := len(declaration+"<methodCall><methodName></methodName><params></params></methodCall>") + TextLength(method)
	for _, p := range params {
		n += len("<param></param>") + valueLength(p)
	}
	return n
}

// ResponseLength is how many bytes AppendResponse appends, and panics where that does.
func ResponseLength(v Value) int {
	return len(declaration+"<methodResponse><params><param></param></params></methodResponse>") + valueLength(v)
}

// valueLength counts what is long or made of parts, and writes the rest.
func valueLength(v Value) int {
	switch v := v.(type) {
	case string:
		return len("<value><string></string></value>") + TextLength(v)
	case Array:
		n := len("<value><array><data></data></array></value>")
		for _, item := range v {
			n += valueLength(item)
		}
		return n
	case Struct:
		n := len("<value><struct></struct></value>")
		for _, m := range v {
			n += len("<member><name></name></member>") + TextLength(m.Name) + valueLength(m.Value)
		}
		return n
	case []byte:
		return len("<value><base64></base64></value>") + base64.StdEncoding.EncodedLen(len(v))
	}
	var buf [512]byte // longer than any number
	return len(appendValue(buf[:0], v))
}

// TextLength is the length of s as XML text, which mostly is its own.
func TextLength(s string) int {
	for i := range len(s) {
		if !verbatim[s[i]] || s[i] >= 0x80 {
			return len(appendText(nil, s))
		}
	}
	return len(s)
}

package xmlrpc

import (
	"bytes"
	"encoding/base64"
	"strconv"
)

// maxNumber is the longest text of a number, in bytes: none that a float64 can hold takes more
// than 327 without an exponent.
const maxNumber = 400

// scalar reads the rest of an element of type name that began at offset start.
func (d *decoder) scalar(start int, name []byte, empty bool) (v Value, ok bool) {
	switch string(name) {
	case "string", "int", "i4", "i8", "boolean", "double", "base64", "dateTime.iso8601", "nil", "ex:nil":
	default:
		d.pos = start
		return nil, d.refuse("unknown element " + quote(name))
	}
	text, ok := d.content(string(name), empty)
	if !ok {
		return nil, false
	}
	if string(name) == "string" {
		return d.keep(text), true
	}
	text = bytes.Trim(text, " \t\r\n")
	switch string(name) {
	case "int", "i4", "i8":
		v, ok = parseInt(text)
	case "boolean":
		v, ok = string(text) == "1", string(text) == "1" || string(text) == "0"
	case "double":
		v, ok = parseDouble(text)
	case "base64":
		v, ok = parseBase64(text)
	case "dateTime.iso8601":
		if ok = isDateTime(text); ok {
			v = DateTime(d.keep(text))
		}
	default: // nil
		ok = len(text) == 0
	}
	if !ok {
		d.pos = start
		return nil, d.refuse("malformed " + string(name))
	}
	return v, true
}

func parseInt(text []byte) (v Value, ok bool) {
	if len(text) > maxNumber {
		return nil, false
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil
}

// parseDouble reads a number with or without an exponent, and nothing else of what Go knows:
// infinities, NaN, hexadecimal.
func parseDouble(text []byte) (v Value, ok bool) {
	if len(text) > maxNumber || len(bytes.Trim(text, "0123456789+-.eE")) > 0 {
		return nil, false
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil
}

// parseBase64 reads text that may be broken into lines anywhere.
func parseBase64(text []byte) (v Value, ok bool) {
	packed := make([]byte, 0, len(text))
	for _, c := range text {
		if !isSpace(c) {
			packed = append(packed, c)
		}
	}
	data, err := base64.StdEncoding.Strict().AppendDecode([]byte{}, packed)
	return data, err == nil
}

// isDateTime reports whether text has the form of a date and time, 20060102T15:04:05 or
// 2006-01-02T15:04:05, with or without a fraction of a second and a zone behind.
func isDateTime(text []byte) bool {
	for _, form := range []string{"00000000T00:00:00", "0000-00-00T00:00:00"} {
		if hasForm(text, form) {
			rest := text[len(form):]
			return len(rest) <= len(".000000000+00:00") && len(bytes.Trim(rest, "0123456789.:+-Z")) == 0
		}
	}
	return false
}

// hasForm reports whether text begins like form, in which 0 stands for any digit.
func hasForm(text []byte, form string) bool {
	if len(text) < len(form) {
		return false
	}
	for i := range len(form) {
		if c := text[i]; c != form[i] && (form[i] != '0' || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

package xmlrpc

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
)

// Messages go out without an XML declaration: XML 1.0 §2.8 leaves it to the writer where the encoding is UTF-8, and it
// would be a tenth of a short message.

// AppendCall appends a call of method to dst. It panics where a parameter holds what no Value can
// be. The method's name should be of the characters that DecodeCall takes: letters, digits and any
// of "_.:/".
func AppendCall(dst []byte, method string, params ...Value) []byte {
	dst = append(dst, "<methodCall><methodName>"...)
	dst = appendText(dst, method)
	dst = append(dst, "</methodName><params>"...)
	for _, p := range params {
		dst = append(dst, "<param>"...)
		dst = appendValue(dst, p)
		dst = append(dst, "</param>"...)
	}
	return append(dst, "</params></methodCall>"...)
}

// AppendResponse appends the response that carries v to dst. It panics where v holds what no Value
// can be.
func AppendResponse(dst []byte, v Value) []byte {
	dst = append(dst, "<methodResponse><params><param>"...)
	dst = appendValue(dst, v)
	return append(dst, "</param></params></methodResponse>"...)
}

// AppendFault appends the response that carries the fault f to dst.
func AppendFault(dst []byte, f Fault) []byte {
	dst = append(dst, "<methodResponse><fault>"...)
	dst = appendValue(dst, f.value())
	return append(dst, "</fault></methodResponse>"...)
}

func appendValue(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case string:
		dst = append(dst, "<value><string>"...)
		dst = appendText(dst, v)
		return append(dst, "</string></value>"...)
	case int64:
		return appendInt(dst, v)
	case int:
		return appendInt(dst, int64(v))
	case bool:
		if v {
			return append(dst, "<value><boolean>1</boolean></value>"...)
		}
		return append(dst, "<value><boolean>0</boolean></value>"...)
	case Array:
		dst = append(dst, "<value><array><data>"...)
		for _, item := range v {
			dst = appendValue(dst, item)
		}
		return append(dst, "</data></array></value>"...)
	case Struct:
		dst = append(dst, "<value><struct>"...)
		for _, m := range v {
			dst = append(dst, "<member><name>"...)
			dst = appendText(dst, m.Name)
			dst = append(dst, "</name>"...)
			dst = appendValue(dst, m.Value)
			dst = append(dst, "</member>"...)
		}
		return append(dst, "</struct></value>"...)
	case float64:
		return appendDouble(dst, v)
	case []byte:
		dst = append(dst, "<value><base64>"...)
		dst = base64.StdEncoding.AppendEncode(dst, v)
		return append(dst, "</base64></value>"...)
	case DateTime:
		dst = append(dst, "<value><dateTime.iso8601>"...)
		dst = appendText(dst, string(v))
		return append(dst, "</dateTime.iso8601></value>"...)
	}
	panic(fmt.Sprintf("xmlrpc: no XML-RPC type for a Go %T", v))
}

// appendInt uses the oldest type that holds v: not everyone knows i8.
func appendInt(dst []byte, v int64) []byte {
	if v < math.MinInt32 || v > math.MaxInt32 {
		dst = append(dst, "<value><i8>"...)
		dst = strconv.AppendInt(dst, v, 10)
		return append(dst, "</i8></value>"...)
	}
	dst = append(dst, "<value><int>"...)
	dst = strconv.AppendInt(dst, v, 10)
	return append(dst, "</int></value>"...)
}

// appendDouble writes v without an exponent, for which XML-RPC has no form. It has none for infinity
// and NaN either: their Go names are written, which the other side may refuse, as this package does.
func appendDouble(dst []byte, v float64) []byte {
	dst = append(dst, "<value><double>"...)
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	return append(dst, "</double></value>"...)
}

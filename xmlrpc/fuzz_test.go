package xmlrpc

import (
	"errors"
	"reflect"
	"testing"
)

func FuzzDecodeCall(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := DecodeCall(body, MessageLimits{})
		if err != nil {
			checkError(t, body, err)
			return
		}
		checkReference(t, body, got.Params...)
		if name, ok := DecodeMethod(body); !ok || name != got.Method {
			t.Errorf("DecodeMethod = %q, %t; want %q", name, ok, got.Method)
		}
		want := Call{got.Method, sendable(Array(got.Params)).(Array)}
		back, err := DecodeCall(AppendCall(nil, want.Method, want.Params...), MessageLimits{Bytes: 1 << 30})
		if err != nil || !reflect.DeepEqual(back, want) {
			t.Errorf("got %#v, %v; want %#v", back, err, want)
		}
	})
}

func FuzzDecodeResponse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := DecodeResponse(body, MessageLimits{})
		if fault, ok := err.(*Fault); ok {
			_, err := DecodeResponse(AppendFault(nil, *fault), MessageLimits{Bytes: 1 << 30})
			if back, ok := err.(*Fault); !ok || *back != *fault {
				t.Errorf("got %#v, want %#v", err, fault)
			}
			return
		}
		if err != nil {
			checkError(t, body, err)
			return
		}
		checkReference(t, body, got)
		want := sendable(got)
		back, err := DecodeResponse(AppendResponse(nil, want), MessageLimits{Bytes: 1 << 30})
		if err != nil || !reflect.DeepEqual(back, want) {
			t.Errorf("got %#v, %v; want %#v", back, err, want)
		}
	})
}

// seed adds a message of each kind with each thing that may stand in one.
func seed(f *testing.F) {
	everything := Struct{
		{"s", "a<b>&\r\n\té😀"}, {"i", 1}, {"l", int64(1) << 40}, {"b", true}, {"d", -1.5e-9},
		{"x", []byte("bytes")}, {"t", DateTime("20260921T14:13:20")}, {"a", Array{"", Array{}, Struct{}}},
	}
	f.Add(AppendCall(nil, "m", everything, everything))
	f.Add(AppendResponse(nil, everything))
	f.Add(AppendFault(nil, Fault{-1, "no"}))
	const odd = "<value>\n<struct ><member>\r<name>&#x41;&lt;</name><!-- c --><value> " +
		"<![CDATA[]]>]]&gt;\r\n&#13;</value></member>" +
		"<member><name/><value><nil/></value></member><member><name>e</name><value><ex:nil></ex:nil></value>" +
		"</member></struct></value>"
	f.Add([]byte("\uFEFF<?xml version='1.0' encoding='us-ascii' standalone=\"no\" ?>\n<!-- - -->" + call(odd) + "\n"))
	f.Add([]byte(`<methodResponse xmlns:ex="` + extensions + `"><params><param>` + odd +
		"</param></params></methodResponse >"))
	f.Add([]byte("<methodResponse><fault>" + odd + "</fault></methodResponse>"))
	f.Add([]byte(call(nested(33))))
	f.Add([]byte("<!DOCTYPE a><a b='c'/>"))
}

// sendable is v with empty strings in place of nil, which is never sent.
func sendable(v Value) Value {
	switch v := v.(type) {
	case nil:
		return ""
	case Array:
		for i := range v {
			v[i] = sendable(v[i])
		}
	case Struct:
		for i := range v {
			v[i].Value = sendable(v[i].Value)
		}
	}
	return v
}

// checkError checks what every refusal has in common.
func checkError(t *testing.T, body []byte, err error) {
	t.Helper()
	var e *SyntaxError
	if !errors.As(err, &e) || errors.Is(err, ErrLimit) == errors.Is(err, ErrSyntax) {
		t.Fatalf("%#v is of no kind, or of two", err)
	}
	if e.Offset < 0 || e.Offset > len(body) || e.Reason == "" || len(e.Reason) > 200 {
		t.Errorf("%#v says nothing about a message of %d bytes", e, len(body))
	}
}

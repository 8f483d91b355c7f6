package xmlrpc_test

import (
	"errors"
	"fmt"
	"strings"

	"feedex/xmlrpc"
)

func ExampleAppendCall() {
	body := xmlrpc.AppendCall(nil, "check_did", 7790, "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		xmlrpc.Struct{{Name: "feed", Value: "https://example.com/?a=1&b=2"}})
	lines := strings.NewReplacer(
		"<param", "\n<param", "<value><string>", "\n<value><string>", "</struct>", "\n</struct>")
	fmt.Println(lines.Replace(string(body)))
	// Output:
	// <methodCall><methodName>check_did</methodName>
	// <params>
	// <param><value><int>7790</int></value></param>
	// <param>
	// <value><string>da39a3ee5e6b4b0d3255bfef95601890afd80709</string></value></param>
	// <param><value><struct><member><name>feed</name>
	// <value><string>https://example.com/?a=1&amp;b=2</string></value></member>
	// </struct></value></param></params></methodCall>
}

func ExampleDecodeCall() {
	body := []byte(`<methodCall>
		<methodName>weather.report</methodName>
		<params>
			<param><value>Ghent &amp; Bruges</value></param>
			<param><value><struct>
				<member><name>days</name><value><int>3</int></value></member>
			</struct></value></param>
		</params>
	</methodCall>`)
	call, err := xmlrpc.DecodeCall(body, xmlrpc.MessageLimits{Bytes: 4096, Values: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	days, _ := call.Params[1].(xmlrpc.Struct).Lookup("days")
	fmt.Printf("%s of %q for %d days\n", call.Method, call.Params[0], days)

	_, err = xmlrpc.DecodeCall(body, xmlrpc.MessageLimits{Values: 2})
	fmt.Println(err, errors.Is(err, xmlrpc.ErrLimit))
	_, err = xmlrpc.DecodeCall([]byte("<!DOCTYPE methodCall>"), xmlrpc.MessageLimits{})
	fmt.Println(err, errors.Is(err, xmlrpc.ErrSyntax))
	// Output:
	// weather.report of "Ghent & Bruges" for 3 days
	// parse message at byte 173: more than 2 values true
	// parse message at byte 0: document type true
}

func ExampleDecodeResponse() {
	for _, body := range [][]byte{
		xmlrpc.AppendResponse(nil, "ok"),
		xmlrpc.AppendFault(nil, xmlrpc.Fault{Code: 1, String: "unknown neighbor"}),
		[]byte("<html>"),
	} {
		v, err := xmlrpc.DecodeResponse(body, xmlrpc.MessageLimits{})
		var fault *xmlrpc.Fault
		switch {
		case errors.As(err, &fault):
			fmt.Println("they refuse:", fault)
		case err != nil:
			fmt.Println("not an answer:", err)
		default:
			fmt.Println("answer:", v)
		}
	}
	// Output:
	// answer: ok
	// they refuse: fault 1: unknown neighbor
	// not an answer: parse message at byte 0: element "html" in place of methodResponse
}

package protocol_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"feedex/feed"
	"feedex/protocol"
	"feedex/xmlrpc"
)

// same compares calls or replies.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// wireFiles reads the messages of testdata/wire, and those below it, whose names the pattern matches.
func wireFiles(f *testing.F, pattern string) map[string][]byte {
	paths, err := filepath.Glob(filepath.Join(wirePath, pattern))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no messages %s: %v", pattern, err)
	}
	messages := make(map[string][]byte)
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		messages[strings.TrimSuffix(filepath.Base(path), ".xml")] = body
	}
	return messages
}

// unescaped are limits for a message that is written anew: text that came as CDATA takes up to five times
// as many bytes.
var unescaped = xmlrpc.MessageLimits{Bytes: 5 * 4 << 20}

// counted is the call without the count of what was left out of it, which is not sent.
func counted(call protocol.Call) protocol.Call {
	switch c := call.(type) {
	case protocol.Connect:
		c.Ignored = 0
		return c
	case protocol.UpdateSubset:
		c.Ignored = 0
		return c
	}
	return call
}

// FuzzDecodeCall reads calls as a server does. Input that decodes means the same once it is written anew, and a bundle
// is no longer than it says.
func FuzzDecodeCall(f *testing.F) {
	for _, pattern := range []string{"*-call.xml", "refused/*.xml"} {
		for _, body := range wireFiles(f, pattern) {
			f.Add(body)
		}
	}
	f.Add(protocol.EncodeCall(nil, 7790,
		protocol.PutEntries{Bundle: protocol.NewBundle(fullEntry.Feed, []feed.Entry{fullEntry})}))
	f.Fuzz(func(t *testing.T, body []byte) {
		name, _ := xmlrpc.DecodeMethod(body[:min(len(body), 1<<10)])
		raw, err := xmlrpc.DecodeCall(body, protocol.CallLimits(name))
		if err != nil {
			return
		}
		nid, call, err := protocol.DecodeCall(raw)
		if err != nil {
			protocol.EncodeFault(nil, protocol.AsFault(err))
			return
		}
		again := protocol.EncodeCall(nil, nid, call)
		raw, err = xmlrpc.DecodeCall(again, unescaped)
		if err != nil {
			t.Fatalf("%v in what was made of it:\n%s", err, again)
		}
		if nid2, call2, err := protocol.DecodeCall(raw); err != nil || nid2 != nid || !same(call2, counted(call)) {
			t.Errorf("got %d, %+v, %v\nwant %d, %+v", nid2, call2, err, nid, counted(call))
		}
		if put, ok := call.(protocol.PutEntries); ok {
			put.Bundle.Verify()
			alone := protocol.EncodeCall(nil, nid, protocol.PutEntries{Bundle: put.Bundle})
			if put.Bundle.WireBytes() < len(alone) {
				t.Errorf("bundle takes %d bytes, more than %d", len(alone), put.Bundle.WireBytes())
			}
		}
	})
}

// FuzzDecodeReply reads answers as a caller does, to each of the calls. Input that decodes means the same once it is
// written anew.
func FuzzDecodeReply(f *testing.F) {
	calls := make(map[string]protocol.Call)
	answers := wireFiles(f, "*-answer.xml")
	for _, ex := range examples {
		calls[ex.call.Method()] = ex.call
		f.Add(ex.call.Method(), answers[ex.name+"-answer"])
	}
	calls["system.listMethods"] = protocol.ListMethods{}
	f.Add("system.listMethods", protocol.EncodeReply(nil, protocol.Methods{"connect", "check_dids"}))
	f.Add("connect", wireFiles(f, "fault.xml")["fault"])
	f.Fuzz(func(t *testing.T, method string, body []byte) {
		call, known := calls[method]
		if !known {
			return
		}
		v, err := xmlrpc.DecodeResponse(body, protocol.AnswerLimits(method))
		if err != nil {
			return
		}
		reply, err := protocol.DecodeReply(call, v)
		if err != nil {
			return
		}
		if flawed, ok := reply.(protocol.FlawedSubset); ok {
			reply = flawed.Subset // what was left out is gone
		}
		again := protocol.EncodeReply(nil, reply)
		v, err = xmlrpc.DecodeResponse(again, unescaped)
		if err != nil {
			t.Fatalf("%v in what was made of it:\n%s", err, again)
		}
		if reply2, err := protocol.DecodeReply(call, v); err != nil || !same(reply2, reply) {
			t.Errorf("got %+v, %v\nwant %+v", reply2, err, reply)
		}
	})
}

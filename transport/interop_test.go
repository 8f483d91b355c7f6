package transport

import (
	"context"
	"encoding/json"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	kolo "github.com/kolo/xmlrpc"

	"feedex/protocol"
	"feedex/xmlrpc"
)

// plain turns a value of ours into what other libraries take for it.
func plain(v xmlrpc.Value) any {
	switch v := v.(type) {
	case xmlrpc.Array:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case xmlrpc.Struct:
		m := make(map[string]any, len(v))
		for _, member := range v {
			m[member.Name] = plain(member.Value)
		}
		return m
	}
	return v
}

func params(t *testing.T, call protocol.Call) (plainParams []any) {
	t.Helper()
	c, err := xmlrpc.DecodeCall(protocol.EncodeCall(nil, 7790, call), xmlrpc.MessageLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Params {
		plainParams = append(plainParams, plain(p))
	}
	return plainParams
}

// TestKolo lets another library write every call and read every answer.
func TestKolo(t *testing.T) {
	for _, e := range examples("\r\n") {
		var got protocol.Call
		h := newHandler(func(_ context.Context, r Request) Response {
			got = r.Call
			return Response{Reply: e.reply}
		})
		body, err := kolo.EncodeMethodCall(e.call.Method(), params(t, e.call)...)
		if err != nil {
			t.Fatal(err)
		}
		w := post(h, string(body))
		if got == nil || !sameCall(got, e.call) {
			t.Errorf("%s: served %+v, want %+v: %s", e.call.Method(), got, e.call, w.Body)
			continue
		}
		answer := w.Body.Bytes()
		if err := kolo.Response(answer).Err(); err != nil {
			t.Errorf("%s: %v", e.call.Method(), err)
		}
		var theirs any
		if err := kolo.Response(answer).Unmarshal(&theirs); err != nil {
			t.Errorf("%s: %v in %s", e.call.Method(), err, answer)
		}
		ours, err := xmlrpc.DecodeResponse(answer, xmlrpc.MessageLimits{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(theirs, plain(ours)) {
			t.Errorf("%s: they read %#v, want %#v", e.call.Method(), theirs, plain(ours))
		}
	}
}

func TestKoloReadsFaults(t *testing.T) {
	h := newHandler(unserved(t))
	for body, code := range map[string]protocol.Code{"": protocol.ParseError,
		string(xmlrpc.AppendCall(nil, "x")): protocol.UnknownMethod} {
		err := kolo.Response(post(h, body).Body.Bytes()).Err()
		if fault, ok := err.(kolo.FaultError); !ok || fault.Code != int(code) {
			t.Errorf("got %v, want fault %d", err, code)
		}
	}
}

// script calls the server at its first argument, in gzip if that is its second, with the calls that it reads as JSON,
// and prints the answers as JSON. It takes answers in gzip by itself.
const script = `
import json, sys, xmlrpc.client
transport = xmlrpc.client.Transport()
if sys.argv[2] == "gzip":
    transport.encode_threshold = 1
proxy = xmlrpc.client.ServerProxy(sys.argv[1] + "/RPC2", transport=transport)
answers = []
for method, params in json.load(sys.stdin):
    try:
        answers.append(getattr(proxy, method)(*params))
    except xmlrpc.client.Fault as f:
        answers.append({"faultCode": f.faultCode, "faultString": f.faultString})
print(json.dumps(answers))
`

// TestPython lets the XML-RPC client that comes with Python make every call, as it is and in gzip.
func TestPython(t *testing.T) {
	for _, how := range []string{"plain", "gzip"} {
		t.Run(how, func(t *testing.T) { callsByPython(t, how) })
	}
}

func callsByPython(t *testing.T, how string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing: apt-get install python3")
	}
	list := examples("\n") // Python does not escape the returns that XML would swallow
	if how == "gzip" {
		list = slices.DeleteFunc(list, func(e example) bool { // it does not look at how much shorter a call becomes
			body := protocol.EncodeCall(nil, 7790, e.call)
			return len(body) > maxInflation*len(gzipped(string(body)))
		})
	}
	var served []protocol.Call
	addr := serveLoopback(t, newHandler(func(_ context.Context, r Request) Response {
		served = append(served, r.Call)
		return Response{Reply: list[len(served)-1].reply}
	}), ServerConfig{})

	var calls, want []any
	for _, e := range list {
		calls = append(calls, []any{e.call.Method(), params(t, e.call)})
		v, err := xmlrpc.DecodeResponse(protocol.EncodeReply(nil, e.reply), xmlrpc.MessageLimits{})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, plain(v))
	}
	var names []any
	for _, m := range protocol.NodeMethods() {
		names = append(names, m.Name)
	}
	fault := protocol.Faultf(protocol.UnknownMethod,
		"no method %q; system.listMethods lists those there are", "no_such")
	calls = append(calls, []any{"system.listMethods", []any{}}, []any{"no_such", []any{1, "x"}})
	want = append(want, names, map[string]any{"faultCode": int(fault.Code), "faultString": fault.Error()})

	cmd := exec.CommandContext(deadline(t), python, "-c", script, "http://"+addr, how)
	input, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader(string(input))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("python3: %v: %s", err, &stderr)
	}
	for i, call := range served {
		if !sameCall(call, list[i].call) {
			t.Errorf("%s: served %+v, want %+v", call.Method(), call, list[i].call)
		}
	}
	var got, wantAsJSON []any
	if err := json.Unmarshal(output, &got); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &wantAsJSON); err != nil {
		t.Fatal(err)
	}
	for i := range wantAsJSON {
		if i >= len(got) || !reflect.DeepEqual(got[i], wantAsJSON[i]) {
			t.Errorf("call %d: Python got %v, want %v", i, got[i], wantAsJSON[i])
		}
	}
}

package xmlrpc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPython compares us with xmlrpc.client of Python's standard library, both ways: it tells what it
// read from our calls, and sends it back. One process reads all calls.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is missing: apt-get install python3: ", err)
	}
	sh := shape{text: messy(), extra: true}
	calls := rapid.Custom(func(t *rapid.T) Array { return Array{sh.draw(t, 4), sh.draw(t, 1)} })
	var sent []Array
	var in bytes.Buffer
	for seed := range 500 {
		params := calls.Example(seed)
		sent = append(sent, edit(params, carried).(Array))
		body := AppendCall(nil, "m", params...)
		in.Write(binary.BigEndian.AppendUint32(nil, uint32(len(body))))
		in.Write(body)
	}

	cmd := exec.Command(python, "-S", "testdata/echo.py")
	var complaint strings.Builder
	cmd.Stdin, cmd.Stderr = &in, &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	frame := func() []byte {
		if len(out) < 4 || len(out)-4 < int(binary.BigEndian.Uint32(out)) {
			t.Fatal("Python told too little")
		}
		end := 4 + int(binary.BigEndian.Uint32(out))
		data := out[4:end]
		out = out[end:]
		return data
	}
	for i, params := range sent {
		var read any
		if err := json.Unmarshal(frame(), &read); err != nil {
			t.Fatal(err)
		}
		if want := told(t, params).([]any)[1]; !reflect.DeepEqual(read, want) {
			t.Errorf("call %d: Python reads %q, want %q", i, read, want)
		}
		body := frame()
		// Python writes carriage returns as they are, so that they arrive as newlines.
		want := edit(params, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace)
		if got, err := DecodeResponse(body, MessageLimits{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("call %d: got %#v, %v; want %#v", i, got, err, want)
		}
	}
}

// told is the output of echo.py for v, as encoding/json reads it.
func told(t *testing.T, v Value) any {
	switch v := v.(type) {
	case string:
		return []any{"string", v}
	case int64:
		return []any{"int", strconv.FormatInt(v, 10)}
	case bool:
		return []any{"bool", v}
	case float64:
		return []any{"double", hex.EncodeToString(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)))}
	case []byte:
		return []any{"bytes", hex.EncodeToString(v)}
	case DateTime:
		return []any{"time", string(v)}
	case Array:
		all := []any{}
		for _, item := range v {
			all = append(all, told(t, item))
		}
		return []any{"array", all}
	case Struct:
		all := []any{}
		for _, m := range v {
			all = append(all, []any{m.Name, told(t, m.Value)})
		}
		return []any{"struct", all}
	}
	t.Fatalf("%T is not sent", v)
	return nil
}

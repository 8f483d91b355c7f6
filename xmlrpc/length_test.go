package xmlrpc

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLengthIsThatOfTheText(t *testing.T) {
	sh := shape{text: messy(), extra: true}
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom([]string{"check_did", "system.listMethods", "a:b/c", ""}).Draw(t, "method")
		var params []Value
		for range rapid.IntRange(0, 3).Draw(t, "params") {
			params = append(params, sh.draw(t, 4))
		}
		if got, want := CallLength(method, params...), len(AppendCall(nil, method, params...)); got != want {
			t.Errorf("a call of %d bytes counts %d", want, got)
		}
		v := sh.draw(t, 4)
		if got, want := ResponseLength(v), len(AppendResponse(nil, v)); got != want {
			t.Errorf("a response of %d bytes counts %d", want, got)
		}
	})
}

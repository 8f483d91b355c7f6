package transport

import (
	"context"
	"testing"

	"feedex/protocol"
)

// Both ends count a call once, with the same bytes.
func TestMeterCountsCalls(t *testing.T) {
	const calls = 3
	var serving, calling Meter
	t.Run("calls", func(t *testing.T) { // after which the server has ended, and counted
		h := NewHandler(HandlerConfig{Methods: protocol.NodeMethods(), Log: quiet, Meter: &serving,
			Serve: func(context.Context, Request) Response { return Response{Reply: protocol.OK{}} }})
		addr := serveLoopback(t, h, ServerConfig{Meter: &serving})
		c := NewClient(ClientConfig{Port: 7790, AllowLocal: true, Meter: &calling})
		t.Cleanup(c.CloseIdle)
		for range calls {
			if _, err := c.Call(deadline(t), addr, "", protocol.Disconnect{}); err != nil {
				t.Fatal(err)
			}
		}
	})
	made, answered := calling.Read(), serving.Read()
	if made.Made != calls || made.Answered != 0 || answered.Answered != calls || answered.Made != 0 {
		t.Errorf("of %d calls the caller counts %+v, who answers %+v", calls, made, answered)
	}
	if made.Bytes != answered.Bytes || made.Bytes < calls*100 {
		t.Errorf("the caller counts %d bytes, who answers %d", made.Bytes, answered.Bytes)
	}
	if none := (*Meter)(nil).Read(); none != (Metered{}) {
		t.Errorf("no meter counts %+v", none)
	}
}

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/feed"
)

// dialed is a client of a node that answers so on its control socket.
func dialed(t *testing.T, node http.HandlerFunc) *control.Client {
	t.Helper()
	c, err := control.Dial(served(t, node))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// served is the data directory of a node that answers so.
func served(t *testing.T, node http.HandlerFunc) (data string) {
	t.Helper()
	data = t.TempDir()
	if _, err := control.SocketPath(data); err != nil {
		t.Skipf("the name of the folder for temporary files is too long for a Unix socket, set TMPDIR: %v", err)
	}
	l, err := control.Listen(data)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(node)
	srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(srv.Close)
	return data
}

// Standard input is waited for until the command is interrupted.
func TestStandardInputIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	idle, w := io.Pipe()
	defer w.Close()
	c := new(cobra.Command)
	c.SetContext(ctx)
	c.SetIn(idle)
	in, err := openInput(c, "-")
	if err != nil {
		t.Fatal(err)
	}
	cancel(interruption{os.Interrupt})
	if _, err := io.ReadAll(in); !errors.As(err, new(interruption)) {
		t.Errorf("interrupted: %v", err)
	}
}

// A node of an older version follows the feeds as well, and does not tell how far it is.
func TestFirstPollsOfAnOlderNode(t *testing.T) {
	var out strings.Builder
	c := new(cobra.Command)
	c.SetContext(t.Context())
	c.SetErr(&out)
	err := tellFirstPolls(c, dialed(t, http.NotFound), []feed.URL{"https://example.com/feed"})
	if err != nil || !strings.Contains(out.String(), "older version") {
		t.Errorf("it says %q, %v", &out, err)
	}
}

package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// socketName is the control socket's name in the data directory.
const socketName = "feedex.sock"

// maxSocketPath is the longest path of a Unix socket, in bytes, that every system takes: macOS
// reserves 104 with the final zero, Linux and Windows 108.
const maxSocketPath = 103

// elsewhere is what to do where there can be no socket: on a share of another machine, a folder that a container has of
// macOS or Windows, or a memory card as it was bought.
const elsewhere = "; not every disk holds sockets: choose a directory on one of this machine's own with --data"

// SocketPath is where the control socket of the node on a data directory lies. It fails where the
// path would be longer than systems take.
func SocketPath(data string) (string, error) {
	path := filepath.Join(data, socketName)
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("control socket %s: path is %d bytes, the limit is %d: choose a data directory with a "+
			"shorter path",
			path, len(path), maxSocketPath)
	}
	return path, nil
}

// Listen opens the control socket for its owner alone. One that a killed node left is removed:
// the lock on the data directory shows that nobody uses it.
func Listen(data string) (net.Listener, error) {
	path, err := SocketPath(data)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old control socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w%s", err, elsewhere)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("protect control socket: %w%s", err, elsewhere)
	}
	return ln, nil
}

// dialSocket connects to the control socket. Systems tell a missing socket, a stale one and a file in
// its place by many names; to the caller they all mean that no node answers.
func dialSocket(ctx context.Context, data, path string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("open control socket %s: %w", path, fs.ErrPermission)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%w on %s", ErrNotRunning, data)
}

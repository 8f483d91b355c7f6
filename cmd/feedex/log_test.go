package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Text of others does not act on a terminal that shows the log, and is still there in JSON.
func TestLogsAreTidy(t *testing.T) {
	const hostile = "a\x1b[2J\u009b2J\u202eb\n\u2067c\x7f"
	for _, as := range []string{"text", "json"} {
		var out strings.Builder
		log := newLogger(&out, slog.LevelInfo, as)
		log.Info("said", "feed", hostile, "err", errors.New(hostile), "list", []string{hostile})
		if strings.ContainsAny(strings.TrimSuffix(out.String(), "\n"), "\x1b\u009b\u202e\n\u2067\x7f") {
			t.Errorf("%s: %q", as, out.String())
		}
		if as != "json" {
			continue
		}
		var said struct {
			Feed, Err string
			List      []string
		}
		if err := json.Unmarshal([]byte(out.String()), &said); err != nil || said.Feed != hostile ||
			said.Err != hostile || len(said.List) != 1 || said.List[0] != hostile {
			t.Errorf("%v: %+v of %q", err, said, out.String())
		}
	}
}

// The watchdog of the service manager is told of a loop that turns, a few times within its patience, and of none that
// does not.
func TestTheWatchdogIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify.sock")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skipf("a system without such sockets has no service manager that uses them, run it on Linux: %v", err)
	}
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "300000000")
	t.Setenv("WATCHDOG_PID", "")
	told := func() string {
		buf := make([]byte, 100)
		conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		n, _ := conn.Read(buf)
		return string(buf[:n])
	}
	var turned func()
	next := func(d time.Duration, want string) {
		t.Helper()
		<-time.After(d)
		turned()
		if got := told(); got != want {
			t.Errorf("after %v it is told %q, want %q", d, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var stop func() bool
		turned, stop = watch(slog.New(slog.DiscardHandler))
		defer stop()
		next(time.Hour, "WATCHDOG=1")
		next(time.Minute, "")
		next(time.Minute, "WATCHDOG=1")
		next(time.Second, "")
	})
}

// lines is a file that holds each line that is written to it until somebody reads it.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// A loop that does not turn for long is logged once, and one that has not begun or is over is not.
func TestALoopThatHangsIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := make(lines, 10)
		turned, stop := watch(newLogger(out, slog.LevelInfo, "text"))
		passes := func(d time.Duration, want int) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			if len(out) != want {
				t.Errorf("after %v it is said %d times, want %d", d, len(out), want)
			}
		}
		passes(time.Hour, 0) // the archive is opened
		turned()
		passes(hangsAfter-time.Second, 0)
		turned()
		passes(hangsAfter-time.Second, 0)
		passes(time.Second, 1)
		passes(time.Hour, 1)
		if line := <-out; !strings.Contains(line, "the node hangs") {
			t.Errorf("said %q", line)
		}
		turned()
		stop()
		passes(time.Hour, 0)
	})
}

// A process that stood still for however long, its loop with it, has had one look in vain, and does not hang.
func TestAProcessThatStoodStillDoesNotHang(t *testing.T) {
	var loop pulse
	for range 2 * hangLooks {
		if loop.lost() {
			t.Error("it turned after each look, and is said to hang")
		}
		loop.beat()
	}
	lost := 0
	for range 2 * hangLooks {
		if loop.lost() {
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("it turned no more, and is said to hang %d times, want once", lost)
	}
}

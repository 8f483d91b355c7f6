package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// newLogger writes records of a level and above to w: colored lines on a terminal, key=value lines
// elsewhere, JSON where that is asked for.
func newLogger(w io.Writer, least slog.Level, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(escapedJSON{w}, &slog.HandlerOptions{Level: least}))
	}
	if isTerminal(w) && os.Getenv("NO_COLOR") == "" {
		return slog.New(tint.NewTextHandler(w, &tint.Options{Level: least, TimeFormat: "15:04:05.000",
			ReplaceAttr: printableAttr}))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: least}))
}

// printableAttr keeps what others wrote from steering the terminal. The colored handler, unlike the plain one, which
// quotes them, lets escape sequences through.
func printableAttr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(printable(a.Value.String()))
	case slog.KindAny:
		if a.Key != slog.LevelKey {
			a.Value = slog.StringValue(printable(fmt.Sprint(a.Value.Any())))
		}
	}
	return a
}

// isTerminal reports whether w is a terminal, of those that take escape sequences.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && takesEscapes(f)
}

// tellSystemd tells the service manager, if one started us (sd_notify(3)), that the program serves and
// where. Others may wait for the same word: it goes to the socket that $NOTIFY_SOCKET names.
func tellSystemd(log *slog.Logger, status string) {
	if _, err := systemd.SdNotify(false, systemd.SdNotifyReady+"\nSTATUS="+status); err != nil {
		log.Warn("service manager was not told", "err", err)
	}
}

// tellSystemdStopping tells the service manager that the program is about to end.
func tellSystemdStopping() { _, _ = systemd.SdNotify(false, systemd.SdNotifyStopping) }

const (
	// hangsAfter is how long the loop of a node may be at one thing until it is said to hang.
	hangsAfter = 3 * time.Minute
	// hangLooks is how often it is looked meanwhile whether it turned.
	hangLooks = 3
)

// A pulse counts the looks at a loop since it turned. One that comes late counts once: where the whole process stood
// still, as in a container that was paused, the loop turns before the next.
type pulse struct{ looks atomic.Int32 }

func (p *pulse) beat() { p.looks.Store(0) }

// lost reports at a look whether the loop hangs, once.
func (p *pulse) lost() bool { return p.looks.Add(1) == hangLooks }

// watch returns what the loop of a node is to call whenever it turns. The watchdog of the service manager, if there is
// one (sd_watchdog_enabled(3)), learns from it that the node goes on, and the log that it does not. stop ends that.
func watch(log *slog.Logger) (turned func(), stop func() bool) {
	var loop pulse
	var look *time.Timer
	look = time.AfterFunc(hangsAfter/hangLooks, func() {
		if loop.lost() {
			log.Error("the node hangs: see whether its disk does, and look into the system's log", "since", hangsAfter)
		}
		look.Reset(hangsAfter / hangLooks)
	})
	look.Stop() // until it turns first: before that it opens the archive, which takes as long as that is large
	patience, err := systemd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("service manager's watchdog is not told", "err", err)
	}
	var told time.Time
	return func() {
		loop.beat()
		look.Reset(hangsAfter / hangLooks)
		if patience > 0 && time.Since(told) >= patience/4 {
			told = time.Now()
			_, _ = systemd.SdNotify(false, systemd.SdNotifyWatchdog)
		}
	}, look.Stop
}

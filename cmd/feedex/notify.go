package main

import (
	"log/slog"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// tellSystemd tells the service manager, if one started us (sd_notify(3)), that the program serves and
// where. Others may wait for the same word: it goes to the socket that $NOTIFY_SOCKET names.
func tellSystemd(log *slog.Logger, status string) {
	if _, err := systemd.SdNotify(false, systemd.SdNotifyReady+"\nSTATUS="+status); err != nil {
		log.Warn("service manager was not told", "err", err)
	}
}

// tellSystemdStopping tells the service manager that the program is about to end.
func tellSystemdStopping() { _, _ = systemd.SdNotify(false, systemd.SdNotifyStopping) }

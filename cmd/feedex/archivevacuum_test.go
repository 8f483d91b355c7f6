package main

import (
	"database/sql"
	"strings"
	"testing"

	"feedex/daemon"
)

// A node gives back room in steps; the file of an older feedex is rewritten first, and the command says what that
// means.
func TestVacuumWhileTheNodeRuns(t *testing.T) {
	data := t.TempDir()
	k, err := daemon.OpenOffline(data, true, openDatabase)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", daemon.DatabasePath(data))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`PRAGMA auto_vacuum(0); VACUUM; CREATE TABLE ballast (x); INSERT INTO ballast VALUES ` +
		`(zeroblob(4000000)); DROP TABLE ballast`)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	n := startNodeProcess(t, data)
	defer n.kill()
	for _, older := range []bool{true, false} {
		cmd := feedexProcess(t, "archive", "vacuum", "--data", data)
		var says strings.Builder
		cmd.Stderr = &says
		out, err := cmd.Output()
		if err != nil || strings.Contains(says.String(), "it is rewritten once") != older {
			t.Errorf("older %v: %s%s, %v", older, says.String(), out, err)
		}
		if before, mebibytes := strings.Contains(string(out), "before 4."),
			strings.Contains(string(out), "MiB"); older && !before || !older && mebibytes {
			t.Errorf("older %v: %s", older, out)
		}
	}
}

package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/archive/sqlite"
	"feedex/control"
	"feedex/daemon"
	"feedex/feed"
	"feedex/protocol"
)

// The limits of feeds have a column where any feed has a limit of its own.
func TestPrintBoundsOfFeeds(t *testing.T) {
	st := archiveStats{File: "feedex.db", ByFeed: []archive.FeedStats{
		{URL: "https://example.com/a", Entries: 1200, KeepBytes: 20 << 20, KeepAge: 90 * 24 * 3600, KeepCount: 1000},
		{URL: "https://example.com/b", Entries: 1},
	}}
	const head = `
archive  feedex.db
entries  0 of 0 feeds; 0 unconfirmed, 0 filled in, 0 hidden
on disk  0 B, of which 0 B hold nothing

`
	wantText(t, head+`FEED                   TITLE  ENTRIES  SIZE  UNCONFIRMED  FILLED IN  HIDDEN  OLDEST  NEWEST  KEEPS
https://example.com/a         1,200    0 B   0            0          0       -       -       20.0 MiB, 90d, 1,000 entries
https://example.com/b         1        0 B   0            0          0       -       -       -
`, func(w *strings.Builder) error { return printStats(w, &st, 0) })
	st.ByFeed = st.ByFeed[1:]
	wantText(t, head+`FEED                   TITLE  ENTRIES  SIZE  UNCONFIRMED  FILLED IN  HIDDEN  OLDEST  NEWEST
https://example.com/b         1        0 B   0            0          0       -       -
`, func(w *strings.Builder) error { return printStats(w, &st, 0) })
}

// A node gives back room in steps; the file of an older feedex is rewritten first, and the command says what that
// means.
func TestVacuumWhileTheNodeRuns(t *testing.T) {
	data := t.TempDir()
	k, err := daemon.OpenOffline(t.Context(), data, true, openDatabase)
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

// exportOf is an export of so many entries, a minute apart, with so many words and some 300 bytes each besides.
func exportOf(t *testing.T, n, words int) string {
	t.Helper()
	var text []byte
	for i := range n {
		at := time.Unix(1_700_000_000-60*int64(i), 0)
		e := feed.Entry{Feed: "https://example.com/feed", ID: fmt.Sprint(i), Title: fmt.Sprintf("Entry %d", i),
			Published: at.UTC(), Summary: strings.Repeat("text ", words)}
		r := archive.NewRecord(e, at, protocol.NodeID{})
		line := jsonl.NewLine(&r, false)
		var err error
		if text, err = line.Append(text); err != nil {
			t.Fatal(err)
		}
	}
	return string(text)
}

// feedexProcess is the program in a process of its own, to be killed.
func feedexProcess(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "feedex", args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	return cmd
}

func feedexOutput(t *testing.T, args ...string) string {
	t.Helper()
	out, err := feedexProcess(t, args...).Output()
	if err != nil {
		t.Fatalf("feedex %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// entriesIn is how many entries an archive holds that is whole.
func entriesIn(t *testing.T, file string) (n int) {
	t.Helper()
	out := feedexOutput(t, "archive", "verify", file)
	if _, err := fmt.Sscanf(strings.ReplaceAll(out, ",", ""), "%d", &n); err != nil {
		t.Fatalf("verify printed %q", out)
	}
	return n
}

// An import that is killed again and again loses nothing, doubles nothing, and is finished by the next.
func TestKilledImport(t *testing.T) {
	const n = 5 * control.ImportLines
	data, whole := t.TempDir(), exportOf(t, n, 10)
	file := daemon.DatabasePath(data)
	before := 0
	// So many tenths are read before the kill, which is in the middle of a batch: one or two batches are stored then,
	// and three or four the next time.
	for _, part := range []int{5, 9} {
		cmd := feedexProcess(t, "archive", "import", "--data", data)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// A pipe holds far less than a batch, and one batch is read ahead: once this is written, all batches but the
		// last two are stored.
		if _, err := io.WriteString(in, whole[:len(whole)/10*part]); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("the import was not killed but ended: %v", err)
		}
		got := entriesIn(t, file)
		if got <= before || got >= n {
			t.Fatalf("%d entries after %d, of %d", got, before, n)
		}
		before = got
	}
	cmd := feedexProcess(t, "archive", "import", "--data", data)
	cmd.Stdin = strings.NewReader(whole)
	out, err := cmd.Output()
	if want := fmt.Sprintf("%s added, %s there already\n", counted(n-before),
		grouped(before)); err != nil || string(out) != want {
		t.Errorf("the last import says %q, %v; want %q", out, err, want)
	}
	if got := entriesIn(t, file); got != n {
		t.Errorf("%d entries, want %d", got, n)
	}
}

// A backup that is killed leaves no file that could be taken for one, and does not stand in the way of the next.
func TestKilledBackup(t *testing.T) {
	const n = 2 * control.ImportLines
	data := t.TempDir()
	cmd := feedexProcess(t, "archive", "import", "--data", data)
	cmd.Stdin = strings.NewReader(exportOf(t, n, 100))
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	killed := 0
	for range 3 {
		cmd := feedexProcess(t, "archive", "backup", "--data", data, backup)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		waitForPart(t.Context(), backup, ended)
		_ = cmd.Process.Kill() // fails where it has ended
		if <-ended; !cmd.ProcessState.Exited() {
			killed++
		}
		if _, err := os.Stat(backup); err != nil {
			continue
		}
		if got := entriesIn(t, backup); got != n {
			t.Fatalf("the backup has %d entries, want %d", got, n)
		}
		if err := os.Remove(backup); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("killed %d of 3", killed)
	feedexOutput(t, "archive", "backup", "--data", data, backup)
	if got := entriesIn(t, backup); got != n {
		t.Errorf("the backup has %d entries, want %d", got, n)
	}
	if left, _ := filepath.Glob(backup + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if got := entriesIn(t, daemon.DatabasePath(data)); got != n {
		t.Errorf("the archive has %d entries, want %d", got, n)
	}
}

// waitForPart returns when the backup has begun to grow, or has ended.
func waitForPart(ctx context.Context, backup string, ended chan error) {
	for ctx.Err() == nil {
		parts, _ := filepath.Glob(backup + ".*.part")
		if len(parts) > 0 && sqlite.SizeOf(parts[0]) > 0 || sqlite.SizeOf(backup) > 0 {
			return
		}
		select {
		case err := <-ended:
			ended <- err
			return
		default:
		}
	}
}

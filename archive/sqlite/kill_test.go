package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/feed"
	"feedex/protocol"
	"feedex/reading"
)

// victimVar names the file that a process of this test binary is to write to until it is killed.
const victimVar = "FEEDEX_TEST_VICTIM"

func TestMain(m *testing.M) {
	registerSlow()
	if path := os.Getenv(victimVar); path != "" {
		if purging, ok := strings.CutPrefix(path, purgingPrefix); ok {
			fmt.Fprintln(os.Stderr, purgingVictim(purging))
			os.Exit(1)
		}
		fmt.Fprintln(os.Stderr, victim(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// batchSize is how many entries batch n has.
func batchSize(n int) int { return 1 + n%24 }

// batch is the content of the victim's nth transaction: entries of which the last replaces one of the batch before.
func batch(n int) (records []archive.Record, did protocol.DID) {
	for i := range batchSize(n) {
		records = append(records, victimRecord(n, i, "new"))
	}
	if n > 0 {
		records = append(records, victimRecord(n-1, 0, "replaced"))
	}
	return records, protocol.DID(records[0].ID)
}

// victimFeeds is how many feeds the victim follows.
const victimFeeds = 5

func victimFeed(i int) feed.URL { return feed.URL(fmt.Sprintf("https://www%d.example.org/", i)) }

func victimRecord(n, i int, state string) archive.Record {
	e := feed.Entry{
		Feed:    victimFeed(n % victimFeeds),
		ID:      fmt.Sprintf("%d/%d", n, i),
		Title:   fmt.Sprintf("batch%d entry%d %s", n, i, state),
		Summary: strings.Repeat("some text ", 60),
	}
	return archive.NewRecord(e, time.Unix(int64(n), 0), protocol.NodeID{})
}

// victim writes batches for good, one line for each that was acknowledged. With each it reads what came before. The
// housekeeping of its archive goes on all the while.
func victim(path string) error {
	s, err := Open(context.Background(), path, Config{})
	if err != nil {
		return err
	}
	u, err := s.housekeeper()
	if err != nil {
		return err
	}
	go func() {
		ctx := context.Background()
		for {
			_, err := u.Index(ctx)
			_, err2 := u.Tidy(ctx)
			s.lock.log.Add(logBytes / 8)
			for _, err := range []error{err, err2, u.Log(ctx)} {
				if err != nil && err != archive.ErrGaveWay {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
		}
	}()
	n := len(s.LatestDIDs(archive.KeptDIDs))
	for i := range victimFeeds {
		s.KeepFeed(archive.Feed{URL: victimFeed(i), Subscribed: true})
	}
	for ; ; n++ {
		records, did := batch(n)
		s.Pen(reading.Owner).MarkStream(markedAt, reading.Stream{}, reading.Mark{Read: reading.Yes}, reading.MaxPage)
		s.Keep(records)
		s.KeepDID(did)
		if err := s.Commit(); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

// A process is killed at random moments again and again. Everything that it acknowledged is there
// each time, and the file and its index are whole.
func TestKill(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "archive.db")
	random := rand.New(rand.NewPCG(1, 1))
	acknowledged := -1
	for range 10 {
		before := acknowledged
		if acknowledged = runVictim(t, path, 1+random.IntN(25)); acknowledged <= before {
			t.Fatalf("the last acknowledged is %d after %d", acknowledged, before)
		}
		checkVictim(t, path, max(0, before), acknowledged)
	}
	checkVictim(t, path, 0, acknowledged)
}

// runVictim starts a victim, kills it when it has acknowledged some batches and returns the last.
func runVictim(t *testing.T, path string, batches int) (last int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), victimVar+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for n := 0; ; n++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF { // an incomplete line acknowledges nothing
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if last, err = strconv.Atoi(line[:len(line)-1]); err != nil {
			t.Fatal(err)
		}
		if n == batches {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the victim was not killed but ended: %v", err)
	}
	return last
}

// checkVictim checks the file as a whole and the batches from first on one by one.
func checkVictim(t *testing.T, path string, first, acknowledged int) {
	t.Helper()
	s := openFile(t, path)
	defer s.Close()
	var verdict string
	if err := s.conn.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict); err != nil ||
		verdict != "ok" {
		t.Fatalf("integrity_check: %s, %v", verdict, err)
	}
	for _, index := range indexes {
		execSQL(t, s, `INSERT INTO `+index+` (`+index+`) VALUES ('integrity-check')`)
	}

	// The batch after the last acknowledged may be there, too, but only as a whole.
	total := len(s.LatestDIDs(archive.KeptDIDs))
	if total != acknowledged+1 && total != acknowledged+2 {
		t.Fatalf("%d batches are there, %d were acknowledged", total, acknowledged+1)
	}
	if problems := itemProblems(t, s); problems != nil {
		t.Error(problems)
	}
	if unread, err := s.Shelf(reading.Owner).Size(t.Context(), reading.Stream{Read: reading.No}); err != nil ||
		unread != batchSize(total-1) {
		t.Errorf("%d items are unread, %v; want the %d of the last batch", unread, err, batchSize(total-1))
	}
	for n := first; n < total; n++ {
		records, did := batch(n)
		records = records[:batchSize(n)]
		if n+1 < total {
			records[0] = victimRecord(n, 0, "replaced")
		}
		if !s.HasDID(did) {
			t.Errorf("the did of batch %d is lost", n)
		}
		for _, r := range records {
			if got := s.Known([]feed.EntryID{r.ID}); got[0].Digest != r.Digest {
				t.Errorf("entry %s: digest %v, want %v", r.Entry.ID, got[0], r.Digest)
			}
		}
		found, err := s.Search(t.Context(), feed.Filter{Words: []string{fmt.Sprint("batch", n)}})
		if err != nil || len(found) != len(records) {
			t.Errorf("batch %d: found %d entries of %d, %v", n, len(found), len(records), err)
		}
	}
}

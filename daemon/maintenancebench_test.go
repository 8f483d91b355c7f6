//go:build unix

package daemon

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedex/archive"
	"feedex/archive/archivetest/ondisk"
	"feedex/archive/jsonl"
	"feedex/control"
	"feedex/feed"
	"feedex/protocol"
)

// benchLines is an export of so many entries of 1,000 feeds, with a summary of 600 bytes each.
func benchLines(b *testing.B, n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for i := range n {
		var words strings.Builder
		for words.Len() < 600 {
			fmt.Fprintf(&words, "w%04x ", rng.IntN(1<<16))
		}
		seen := time.Unix(1_700_000_000+int64(n-i)*60, 0)
		r := archive.NewRecord(feed.Entry{
			Feed: feed.URL(fmt.Sprintf("https://www%d.example.org/feed", rng.IntN(1000))), ID: fmt.Sprint("urn:", i),
			Title: words.String()[:60],
			Link:  fmt.Sprintf("https://www.example.org/%d", i), Published: seen.Add(-time.Hour),
			Summary: words.String(),
		}, seen, protocol.NodeID{})
		line := jsonl.NewLine(&r, false)
		var err error
		if text, err = line.Append(text); err != nil {
			b.Fatal(err)
		}
	}
	return text
}

// busy is how long the process has kept processors busy: what a busy machine does not change much.
func busy(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkImport takes in 100,000 entries where no node runs, as `feedex archive import` does, reading and checking
// the lines included; brings them into the index; and writes them out again.
func BenchmarkImport(b *testing.B) {
	const n = 100_000
	text := benchLines(b, n)
	for b.Loop() {
		data := filepath.Join(b.TempDir(), "data")
		k, err := OpenOffline(b.Context(), data, true, ondisk.Open)
		if err != nil {
			b.Fatal(err)
		}
		begun, before := time.Now(), busy(b)
		err = control.ReadImport(b.Context(), bytes.NewReader(text), func(part control.ImportPart) error {
			_, err := k.Import(b.Context(), part.Lines)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(n/time.Since(begun).Seconds(), "imported/s")
		b.ReportMetric(n/(busy(b)-before).Seconds(), "imported/cpu-s")
		begun = time.Now()
		for left := 1; left > 0; {
			if left, err = k.Index(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(n/time.Since(begun).Seconds(), "indexed/s")
		if err := k.Close(); err != nil {
			b.Fatal(err)
		}
		r := ondisk.View(b, DatabasePath(data))
		begun, before = time.Now(), busy(b)
		var out []byte
		for x, err := range r.Export(b.Context(), "") {
			if err != nil {
				b.Fatal(err)
			}
			line := jsonl.NewLine(&x.Record, x.Hidden)
			if out, err = line.Append(out[:0]); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(n/time.Since(begun).Seconds(), "exported/s")
		b.ReportMetric(n/(busy(b)-before).Seconds(), "exported/cpu-s")
	}
}

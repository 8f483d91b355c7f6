package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the embedded set anew from the traces in FEEDEX_MATERIAL")

// What the embedded set was made from is no part of the project: FEEDEX_MATERIAL names the folder that has it, where it
// is at hand.
func TestEmbeddedIsWhatLoadReads(t *testing.T) {
	folder := os.Getenv("FEEDEX_MATERIAL")
	if folder == "" {
		t.Skip("FEEDEX_MATERIAL names no folder with the traces that the embedded set was made from")
	}
	want, err := Load(filepath.Join(folder, "traces"))
	if err != nil {
		t.Fatal(err)
	}
	counted, err := LoadDocuments(filepath.Join(folder, "traces"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if _, err := w.Write(want.encode()); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"recorded.gz": b.Bytes(), "documents.csv": encodeDocuments(counted)}
		for name, content := range files {
			if err := os.WriteFile(name, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	if docs, err := EmbeddedDocuments(); err != nil || !reflect.DeepEqual(docs, counted) {
		t.Errorf("%d embedded documents, %v, are not the %d that are read: run with -update", len(docs), err,
			len(counted))
	}
	got, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the embedded set %s is not the one that is read, %s: run with -update", got.Hash(), want.Hash())
	}
}

// encodeDocuments is the inverse of EmbeddedDocuments.
func encodeDocuments(all []Documents) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(documentColumns()) // a buffer takes everything
	for _, d := range all {
		_ = w.Write([]string{d.Name, d.Kind, strconv.Itoa(d.Least), strconv.Itoa(d.Usual), strconv.Itoa(d.Most),
			strconv.FormatFloat(d.PerDay, 'f', -1, 64)})
	}
	w.Flush()
	return b.Bytes()
}

// The figures are those that came with the traces.
func TestEmbeddedFigures(t *testing.T) {
	s, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if from := time.Date(2026, 7, 4, 0, 0, 0, 0, time.UTC); !s.From.Equal(from) || !s.To.Equal(from.AddDate(0, 0, 35)) {
		t.Errorf("span %v to %v", s.From, s.To)
	}
	silent := 0
	names := map[string]bool{}
	for _, f := range s.Feeds {
		if f.Count(s.From, s.To) == 0 {
			silent++
		}
		if names[f.Name] || f.Name == "" || f.Kind == "" || f.Window < 1 {
			t.Errorf("%q, %q, window %d: unusable or there twice", f.Name, f.Kind, f.Window)
		}
		names[f.Name] = true
		if !slices.IsSorted(f.Times) {
			t.Errorf("%s: times are not in order", f.Name)
		}
		if before := f.Count(time.Unix(0, 0), s.From); before > f.Window ||
			before+f.Count(s.From, s.To) != len(f.Times) {
			t.Errorf("%s: %d entries before the span and %d within, %d in all, for a window of %d",
				f.Name, before, f.Count(s.From, s.To), len(f.Times), f.Window)
		}
	}
	if len(s.Feeds) != 373 || silent != 41 || len(s.Busy(5)) != 70 || len(s.Busy(1)) != 146 {
		t.Errorf("%d feeds, %d silent, %d with 5 entries a day, %d with 1; want 373, 41, 70, 146",
			len(s.Feeds), silent, len(s.Busy(5)), len(s.Busy(1)))
	}
	for _, c := range []struct {
		feeds []Timeline
		want  map[string]int
	}{
		{s.Feeds, map[string]int{"gh-commits": 143, "gh-tags": 107, "blog": 79, "generated-feed": 23, "news": 15,
			"security-news": 6}},
		{s.Busy(5), map[string]int{"gh-commits": 49, "gh-tags": 4, "news": 13, "security-news": 4}},
	} {
		kinds := map[string]int{}
		for _, f := range c.feeds {
			kinds[f.Kind]++
		}
		if !maps.Equal(kinds, c.want) {
			t.Errorf("of %d feeds these are %v, want %v", len(c.feeds), kinds, c.want)
		}
	}
	all := s.Busy(0)
	for rank, want := range map[int]float64{1: 168.46, 2: 111.03, 5: 62.40, 10: 37.60, 20: 16.71, 50: 7.60, 70: 5.14,
		100: 2.80, 245: 0.11} {
		if got := float64(all[rank-1].Count(s.From, s.To)) / 35; math.Abs(got-want) > 0.005 {
			t.Errorf("rank %d publishes %.2f entries a day, want %.2f", rank, got, want)
		}
	}
	if b := len(recorded); b > 1<<20 {
		t.Errorf("it takes %d bytes, want 1 MiB at most", b)
	}
}

func TestBusyOrder(t *testing.T) {
	from := time.Unix(0, 0).UTC()
	s := &Set{From: from, To: from.Add(48 * time.Hour), Feeds: []Timeline{
		{Name: "b", Times: []int64{-5, 0, 1}},
		{Name: "c", Times: []int64{0, 1, 2}},
		{Name: "a", Times: []int64{-2, 7, 8}},
		{Name: "d", Times: []int64{-2, -1, 8}},
	}}
	var names []string
	for _, f := range s.Busy(1) {
		names = append(names, f.Name)
	}
	if want := []string{"c", "a", "b"}; !slices.Equal(names, want) {
		t.Errorf("busy feeds %v, want %v", names, want)
	}
}

func TestCompactForm(t *testing.T) {
	s := &Set{From: time.Unix(1000, 0).UTC(), To: time.Unix(90000, 0).UTC(), Feeds: []Timeline{
		{Name: "news.example.com", Kind: "news", Window: 15, Times: []int64{-7, 1000, 1000, 5000}},
		{Name: "blog-001", Kind: "blog", Window: 1, Times: []int64{}},
	}}
	text := s.encode()
	got, err := decode(text)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Fatalf("%+v, %v, want %+v", got, err, s)
	}
	hash := s.Hash()
	if len(hash) != 16 || got.Hash() != hash {
		t.Errorf("hash %q of the one, %q of the other", hash, got.Hash())
	}
	if s.Feeds[0].Times[3]++; s.Hash() == hash {
		t.Error("another time leaves the hash as it is")
	}
	for n := range text {
		if _, err := decode(text[:n]); !errors.Is(err, errFormat) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(text), err)
		}
	}
	if _, err := decode(append(text, 0)); !errors.Is(err, errFormat) {
		t.Errorf("with a byte more: %v", err)
	}
}

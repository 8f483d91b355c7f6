package syncapi_test

import (
	"errors"
	"iter"
	"strings"
	"testing"

	"feedex/syncapi"
)

var errDisk = errors.New("disk on fire")

// items are those texts, of which "!" stands for an error.
func items(texts string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for text := range strings.FieldsSeq(texts) {
			if text == "!" {
				yield("", errDisk)
				return
			}
			if !yield(text, nil) {
				return
			}
		}
	}
}

func show(text *string) any { return map[string]string{"id": *text} }

func TestList(t *testing.T) {
	for texts, want := range map[string]struct {
		written string
		begun   bool
		err     error
	}{
		"":      {`{"items":[]}`, true, nil},
		"<a>":   {`{"items":[{"id":"<a>"}` + "\n]}", true, nil},
		"a b c": {`{"items":[{"id":"a"}` + "\n" + `,{"id":"b"}` + "\n" + `,{"id":"c"}` + "\n]}", true, nil},
		"!":     {"", false, errDisk},
		"a ! b": {`{"items":[{"id":"a"}` + "\n", true, errDisk},
	} {
		var out strings.Builder
		begun, err := syncapi.List(&out, `{"items":[`, items(texts), show, "]}")
		if out.String() != want.written || begun != want.begun || err != want.err {
			t.Errorf("%q: %q, %v, %v, want %+v", texts, out.String(), begun, err, want)
		}
	}
}

// A value that cannot be told breaks a list off like one that cannot be read.
func TestListOfWhatIsNoJSON(t *testing.T) {
	var out strings.Builder
	begun, err := syncapi.List(&out, "[", items("a"), func(*string) any { return func() {} }, "]")
	if begun || err == nil || out.Len() > 0 {
		t.Errorf("%q, %v, %v", out.String(), begun, err)
	}
}

type gone struct{ writes int }

func (g *gone) Write([]byte) (int, error) {
	g.writes++
	return 0, errors.New("broken pipe")
}

// Nothing more is read for a reader that has gone away.
func TestListForNobody(t *testing.T) {
	var w gone
	if begun, err := syncapi.List(&w, "[", items("a b !"), show, "]"); !begun || err != nil || w.writes != 1 {
		t.Errorf("%v, %v, %d writes", begun, err, w.writes)
	}
}

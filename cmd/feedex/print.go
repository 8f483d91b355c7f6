package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/safehtml"
)

// printJSON writes v as indented JSON that is safe on a terminal.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err := escapedJSON{w}.Write(b.Bytes())
	return err
}

// escapedJSON writes JSON with what JSON lets stand, and would act on a terminal, escaped: control characters beyond
// ASCII, and those that turn the direction of writing.
type escapedJSON struct{ to io.Writer }

// Write implements io.Writer. It wants whole characters.
func (w escapedJSON) Write(text []byte) (int, error) {
	safe := make([]byte, 0, len(text))
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if 0x7f <= r && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r) {
			safe = fmt.Appendf(safe, `\u%04x`, r)
		} else {
			safe = append(safe, rest[:n]...)
		}
		rest = rest[n:]
	}
	if _, err := w.to.Write(safe); err != nil {
		return 0, err
	}
	return len(text), nil
}

// printList prints a list as JSON or, where that is not asked for, for people, who are told none where it is empty.
func printList[T any](c *cobra.Command, asJSON bool, list []T, none string, print func(io.Writer, []T) error) error {
	switch {
	case asJSON:
		return printJSON(c.OutOrStdout(), append([]T{}, list...)) // [], and not null
	case len(list) == 0:
		fmt.Fprintln(c.ErrOrStderr(), none)
		return nil
	}
	return print(c.OutOrStdout(), list)
}

// listing is a command that lists what the running node tells, for people as a table of a width.
func listing[T any](c *cobra.Command, none string, ask func(*control.Client, context.Context) ([]T, error),
	print func(w io.Writer, list []T, now time.Time, width int) error) *cobra.Command {
	var asJSON bool
	withClient(c, func(c *cobra.Command, _ []string, client *control.Client) error {
		list, err := ask(client, c.Context())
		if err != nil {
			return err
		}
		return printList(c, asJSON, list, none, func(w io.Writer, list []T) error {
			return print(w, list, time.Now(), widthOf(w))
		})
	})
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// keptListing is a command that lists what an archive keeps, for people as a table.
func keptListing[T any](c *cobra.Command, none string, read func(*cobra.Command, archiveFile) ([]T, error),
	print func(io.Writer, []T) error) *cobra.Command {
	var asJSON bool
	jsonFlag(c.Flags(), &asJSON)
	return onReader(c, func(c *cobra.Command, r archiveFile, _ []string) error {
		list, err := read(c, r)
		if err != nil {
			return err
		}
		return printList(c, asJSON, list, none, print)
	})
}

// plural is n with the noun that fits: "1 entry", "2 entries".
func plural[T int | int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped writes n with a comma between thousands.
func grouped[T int | int64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// byteSize writes n bytes in the unit that suits: "512 B", "3.4 MiB".
func byteSize(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/1024, 0
	for size >= 1000 && unit < 4 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGTP"[unit])
}

// printable makes text from outside safe and tidy for one line of a terminal, which it could steer else, or pose as a
// message of ours.
func printable(s string) string { return safehtml.Line(s) }

// plainTitle is a title as published, markup and all, as one line of plain text.
func plainTitle(title string) string { return safehtml.Title(title) }

// shorten cuts s to at most n characters, the last of which then is an ellipsis.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// roughly says how long d is in one number and unit, for people: "3s", "12m", "5h", "40d".
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// ago says how long before now t was: "5m ago", or "never" for the zero time.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return roughly(now.Sub(t)) + " ago"
}

// in says how long after now t will be: "in 5m", "now", or "-" for the zero time.
func in(t, now time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case !t.After(now):
		return "now"
	}
	return "in " + roughly(t.Sub(now))
}

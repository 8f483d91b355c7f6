// Package syncapi is the part that the APIs have in common by which feed readers sync with a node: who comes in, how
// much a request may bring, and how a reader learns what is wrong. Which credentials its readers show, and in what form
// they take an answer, is each API's own.
package syncapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"feedex/reading"
)

// A Refusal is an answer that says what is wrong with a request.
type Refusal struct {
	Code int    // HTTP status
	Why  string // for the reader, and perhaps for its user
}

func (e Refusal) Error() string { return e.Why }

// Refuse makes a Refusal with a formatted text.
func Refuse(code int, format string, args ...any) error {
	return Refusal{code, fmt.Sprintf(format, args...)}
}

// SayLater says in the header of an answer when the first of the feeds may be polled that may not be yet: for that the
// APIs have no other place, and readers take any other answer for a failure.
func SayLater(w http.ResponseWriter, r reading.RefreshResult) {
	if r.Later > 0 {
		w.Header().Set("Retry-After", r.From.UTC().Format(http.TimeFormat))
	}
}

// Refused is how a reader learns of err. Clients that guess at passwords are told when to try again, by a header too.
// Names that cannot be are answered with the status badName, and what cannot be kept at present with why. Anything else
// is our own fault: the log says what failed and why, and the reader that it does.
func Refused(w http.ResponseWriter, err error, badName int, log *slog.Logger, failed string) Refusal {
	var known Refusal
	var slowed reading.Slowed
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &slowed):
		w.Header().Set("Retry-After", strconv.Itoa(slowed.Seconds()))
		return Refusal{http.StatusTooManyRequests, slowed.Error()}
	case errors.Is(err, reading.ErrNobody): // whose password just went
		return Refusal{http.StatusUnauthorized, err.Error()}
	case errors.Is(err, reading.ErrRests): // which the log has said
		return Refusal{http.StatusServiceUnavailable, reading.WhyRests(err)}
	case isRefused(err):
		return Refusal{badName, err.Error()}
	case !errors.Is(err, context.Canceled):
		log.Error(failed, "err", err)
	}
	return Refusal{http.StatusInternalServerError, "The node could not do it. Its log says why."}
}

// isRefused reports whether a name cannot be, or there is no room for what it names.
func isRefused(err error) bool {
	return slices.ContainsFunc([]error{reading.ErrName, reading.ErrFolders, reading.ErrFilterName, reading.ErrLabelName,
		reading.ErrLabels, reading.ErrEntryLabels}, func(known error) bool { return errors.Is(err, known) })
}

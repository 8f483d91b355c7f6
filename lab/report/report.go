// Package report is how experiments show what came of them: tables with means and spreads, figures, and all of it as
// text, JSON or SVG. Equal results are written alike on every machine.
package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// A Report is the outcome of an experiment. Equal settings give equal Reports.
type Report struct {
	Title   string   `json:"title"`
	Seed    uint64   `json:"seed"`
	Traces  string   `json:"traces"`            // the trace.Set's Hash
	Hash    string   `json:"hash"`              // over the Hashes of all worlds
	Partial string   `json:"partial,omitempty"` // how far it came, "" where it came to its end
	Setting []string `json:"setting"`
	Tables  []Table  `json:"tables"`
	Result  any      `json:"result"` // what the tables show, in full
	Figures []Figure `json:"-"`
	// Summary is what is shown over several seeds, nil for all of Tables.
	Summary []Table `json:"-"`
	// Plots are figures of other shapes.
	Plots []*Plot `json:"-"`

	// Steps is how many events nodes were given, in all worlds.
	Steps int64 `json:"steps"`
	// Aside has the figures that differ from run to run: time and memory.
	Aside []string `json:"-"`

	hashes string // of all worlds, in order
}

// Took takes in a world that was run: its Hash and its Steps.
func (r *Report) Took(hash string, steps int64) {
	r.hashes += hash
	r.Hash, r.Steps = HashOf(r.hashes), r.Steps+steps
}

// All are the figures of which there is something to draw, in order.
func (r *Report) All() (all []*Plot) {
	for i := range r.Figures {
		if len(r.Figures[i].Points) > 0 {
			all = append(all, r.Figures[i].Plot())
		}
	}
	return append(all, r.Plots...)
}

// Write writes the Report for a person to read.
func (r *Report) Write(w io.Writer) error {
	text := r.Title + "\n\n"
	for _, s := range r.Setting {
		text += wrapped("", s)
	}
	if r.Partial != "" {
		text += "\n" + wrapped("", "PARTIAL: "+r.Partial)
	}
	for _, t := range r.Tables {
		text += "\n" + t.String()
	}
	text += fmt.Sprintf("\nseed %d, traces %s, %d steps, trace hash %s\n", r.Seed, r.Traces, r.Steps, r.Hash)
	_, err := io.WriteString(w, text)
	return err
}

// WriteJSON writes the Report for a program to read.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// HashOf is one hash for those of several worlds, which stand one after the other.
func HashOf(hashes string) string {
	sum := sha256.Sum256([]byte(hashes))
	return hex.EncodeToString(sum[:8])
}

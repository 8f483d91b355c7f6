// Package experiment re-runs evaluations in virtual worlds of package lab. Each is a struct of settings whose Run makes
// worlds, runs them, and returns a report.Report of tables and figures; the names of its files begin with its own.
// Equal settings give an equal Report. HACKING.md says how to add one.
package experiment

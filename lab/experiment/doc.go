// Package experiment re-runs evaluations in virtual worlds of package lab. Each is a struct of settings whose Run
// makes worlds, runs them, and returns a Report of tables and figures; the names of its files begin with its own.
//
// To add one: a struct with a Run(ctx, progress) that checks its settings (errors wrap ErrSetting and say
// what would be possible), has worlds run with together and advance, and fills a Report. Equal settings
// must give an equal Report: results are taken in the order of the settings, never in the order in which
// worlds end. A file beside cmd/feedex/lab.go, named there in newLab, makes a command of it.
package experiment

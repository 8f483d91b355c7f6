//go:build race

package main

// raced says that the race detector slows SQLite down fortyfold, also in the processes that a test starts.
const raced = true

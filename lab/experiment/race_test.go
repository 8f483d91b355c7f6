//go:build race

package experiment

// raced says that the race detector slows everything down tenfold. A world runs in one goroutine, so the longest
// experiments have nothing to show it.
const raced = true

//go:build race

package node_test

// raced says that the race detector slows everything down tenfold. A node runs in one goroutine, so the
// largest networks have nothing to show it.
const raced = true

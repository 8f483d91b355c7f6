// Package daemon hosts a node.Node in real time: it gives the core its events and carries out its
// effects, over XML-RPC, HTTP and an archive.
//
//	peers ---- transport handler ---\                       /---- transport.Client ---- peers
//	owner ---- control handler ------> loop: node.Node.Step ----- fetch.Client -------- publishers
//	timer --------------------------/   one commit a batch  \---- reading.Database ---- search
//
// One goroutine, the loop, owns the node. It drains the events that wait, steps them all, commits the archive
// once, and only then carries out the effects: what was acknowledged is on disk. Everything else runs
// in goroutines that Run joins before it returns.
package daemon

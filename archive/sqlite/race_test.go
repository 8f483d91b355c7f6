//go:build race

package sqlite

// raced says that the race detector slows SQLite down fortyfold.
const raced = true

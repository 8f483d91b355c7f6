//go:build !race

package sqlite

const raced = false

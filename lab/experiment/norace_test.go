//go:build !race

package experiment

const raced = false

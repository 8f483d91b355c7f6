//go:build !race

package node_test

const raced = false

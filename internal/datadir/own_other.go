//go:build !unix

package datadir

// nonblock opens a pipe without waiting, where that is a matter.
const nonblock = 0

// Own does nothing where the folder of a file says who may open it.
func Own(string) {}

package fetch

import (
	"errors"
	"slices"
	"syscall"
)

// What may become of a connection, by the numbers that systems have for it. Windows has those of its sockets, which
// package syscall means by none of its names there, and which no other system uses.
var (
	refused   = []syscall.Errno{syscall.ECONNREFUSED, 10061}
	brokenOff = []syscall.Errno{syscall.ECONNRESET, syscall.ECONNABORTED, 10054, 10053}
	noWay     = []syscall.Errno{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, 10065, 10051, 10050}
)

// isOf reports whether an error of the system has one of some numbers.
func isOf(err error, numbers []syscall.Errno) bool {
	var is syscall.Errno
	return errors.As(err, &is) && slices.Contains(numbers, is)
}

// Package recommend ranks the feeds that neighbors with like interests follow and the node does not (Paper §1.2), from
// what neighbors advertise anyway: nobody is asked for anything. It does no I/O and reads no clock, and equal adverts
// give equal suggestions, in whatever order neighbors and feeds come.
package recommend

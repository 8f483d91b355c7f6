// Package filter finds, of the expressions that people keep, those that an entry answers. An Index holds the
// expressions of all people together; what one means is what it means to an archive.Matcher. It does no I/O and reads
// no clock.
package filter

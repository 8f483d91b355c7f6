// Package filter finds, of the expressions that people keep, those that an entry answers. An Index holds the
// expressions of all people together; what one means is what it means to an archive.Matcher. It does no I/O and reads
// no clock.
//
// Three things make it quick. What is looked for is kept once however many expressions ask for it, as terms: words,
// beginnings of words, and phrases. An entry is read once, from its first word to its last, and marks the terms that it
// holds. And an expression is looked at only where one of its anchors is marked, which are terms of which it cannot do
// without all: those that the fewest expressions ask for, since what few ask for is rare in entries as well.
package filter

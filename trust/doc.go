// Package trust knows whose word counts. A word is what a neighbor says and no own poll has shown: that a publisher
// wrote an entry, that it wrote it so, or that a node forges.
//
//	neighbors ----> Claims    an entry that was not known   <---- own polls tell which were true, and
//	     |                                                        Witnesses what each network earned with it
//	     |--------> Versions  another version of one, or the
//	     |                    same by another way -----------> believed, where two witnesses stand by it
//	     '--------> Witnesses a node forges -----------------> doubted, where two witnesses say so
//
// Entries that an own poll has shown are no matter of anybody's word, and none of this changes them. For everything
// else one rule says when two words are more than one: where they came by ways apart, from neighbors of whom own polls
// have shown that they bring what publishers have. See Witnesses.
//
// The worth of a word in credit, and the fine for a false one, are for package incentive. The types of this package
// belong to one node's loop and are not safe for concurrent use. They read no clock: time is an argument.
package trust

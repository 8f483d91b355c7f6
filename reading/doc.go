// Package reading is the vocabulary of what the people of a node read: the items that arrived for them, which of those
// they have read and starred, the folders that their feeds are filed in, and the passwords by which their programs come
// in. Library is the set of calls that the sync APIs of feed readers make to a node; package daemon implements it.
package reading

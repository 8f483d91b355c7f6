// Package xmlrpc turns XML-RPC calls, responses and faults into bytes and back. It knows nothing of
// HTTP and nothing of what the calls mean.
//
// # Encoding
//
// The Append functions add a message to a byte slice and cannot fail. Their output holds no white space between
// elements and is read back identically by every XML parser: carriage returns, which XML turns into newlines, are
// written as references; bytes that are not UTF-8 and the characters that XML cannot carry are replaced by U+FFFD. A
// Value of a Go type that has no XML-RPC form is a mistake of the calling program and panics.
//
// # Decoding
//
// The Decode functions read bytes that a stranger sent. They never panic, take time in proportion to the length of the
// message and no more stack than MessageLimits.Depth allows. A message of too many bytes is refused unread, one of too
// many values before more than a few KiB are built from it. Their results do not refer to the bytes that they read, and
// a string that is kept from one keeps at most 4 KiB of its neighbors alive.
//
// A message is UTF-8, with or without an XML declaration that says so, or says US-ASCII, which is a
// part of it. White space and comments may stand between all elements; text may hold comments, CDATA
// sections, the five entities of XML and character references. Types are int, i4, i8 (64 bits in
// each), boolean, string, double, base64, dateTime.iso8601, array, struct, and the extension nil,
// also as ex:nil; a value without a type is a string, <value/> the empty one. White space around
// numbers, booleans and times is ignored.
//
// All else is refused: document types, processing instructions, attributes, unknown elements,
// elements out of place, text between elements, the characters that XML forbids (written as
// references, too), other encodings, numbers out of range, anything after the end. There is one
// exception: the outermost element may declare the name space of Apache's extensions,
//
//	<methodResponse xmlns:ex="http://ws.apache.org/xmlrpc/namespaces/extensions">
//
// because senders of ex:nil do so.
package xmlrpc

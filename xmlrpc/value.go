package xmlrpc

// A Value is one XML-RPC value. Its Go type tells its XML-RPC type:
//
//	string      string
//	int64       int, i4 or i8; sent as int where 32 bits hold it, else as i8
//	bool        boolean
//	float64     double
//	[]byte      base64
//	DateTime    dateTime.iso8601
//	Array       array
//	Struct      struct
//	nil         nil (an extension; accepted, never sent)
//
// The encoder takes a plain int for an int64 as well, and panics for any other type: that is a
// mistake of the calling program.
type Value any

// An Array is an ordered list of values.
type Array []Value

// A Struct is a list of named values in the order in which they stand in the message. Names are
// fixed words of a protocol, never data. Where a name stands twice the last one counts.
type Struct []Member

// A Member is one named value of a Struct.
type Member struct {
	Name  string
	Value Value
}

// Lookup returns the value of the member called name, and whether there is one.
func (s Struct) Lookup(name string) (Value, bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].Name == name {
			return s[i].Value, true
		}
	}
	return nil, false
}

// A DateTime is an ISO 8601 time as it stood in the message. XML-RPC leaves its zone open, so it is
// not turned into an instant.
type DateTime string

package protocol

import "feedex/xmlrpc"

// A Method describes one XML-RPC method, for system.listMethods, system.methodHelp and system.methodSignature, and for
// a server that must bound a message before reading it.
type Method struct {
	Name string
	Help string
	// Signatures are the ways to call it: the type of the answer and then of each parameter, as the
	// XML-RPC introspection convention has it.
	Signatures [][]string
	// Call and Answer bound a call's body and an answer's.
	Call, Answer xmlrpc.Limits
}

// Bounds of message bodies. A check must fit in a packet, so a page of memory is plenty; a bundle may
// hold whole articles.
var (
	smallBody  = xmlrpc.Limits{Bytes: 4 << 10, Depth: 8, Values: 64, StringBytes: 4 << 10}
	listBody   = xmlrpc.Limits{Bytes: 64 << 10, Depth: 8, Values: 4096, StringBytes: 4 << 10}
	subsetBody = xmlrpc.Limits{Bytes: 4 << 20, Depth: 8, Values: 40_000, StringBytes: 4 << 10}
	bundleBody = xmlrpc.Limits{Bytes: 4 << 20, Depth: 12, Values: 64 << 10, StringBytes: MaxTextBytes}
	answerBody = xmlrpc.Limits{Bytes: 1 << 20, Depth: 12, Values: 4096, StringBytes: 64 << 10}
)

// limitsOf bounds the bodies of a call of the named method and of its answer.
func limitsOf(name string) (call, answer xmlrpc.Limits) {
	switch name {
	case "get_neighbors", "system.listMethods":
		return smallBody, listBody
	case "connect":
		return subsetBody, subsetBody
	case "update_subset":
		return subsetBody, smallBody
	case "check_dids":
		return listBody, listBody
	case "put_entries":
		return bundleBody, smallBody
	case "query_feed":
		return listBody, answerBody
	case "get_entries":
		return listBody, bundleBody
	case "feedex.get_bundle":
		return smallBody, bundleBody
	}
	return smallBody, smallBody
}

// CallLimits bounds the body of a call of the named method; an unknown method gets the smallest.
func CallLimits(name string) xmlrpc.Limits {
	call, _ := limitsOf(name)
	return call
}

// AnswerLimits bounds the body of an answer of the named method.
func AnswerLimits(name string) xmlrpc.Limits {
	_, answer := limitsOf(name)
	return answer
}

// method describes the named method, with its limits.
func method(name, help string, signatures ...[]string) Method {
	call, answer := limitsOf(name)
	return Method{Name: name, Help: help, Signatures: signatures, Call: call, Answer: answer}
}

// NodeMethods lists what a node answers to.
func NodeMethods() []Method {
	return append([]Method{
		getNeighbors("Nodes that this node is linked with. For neighbors only."),
		method("connect", "Asks to become neighbors. subset: array of [url, hops], the caller's subscription set; "+
			"optionally a struct {away}, the seconds that the caller had no neighbors. Answers the called node's own "+
			"subscription set; an empty one declines.",
			[]string{"array", "int", "array"}, []string{"array", "int", "array", "struct"}),
		method("update_subset",
			"Advertises what changed in the caller's subscription set. changes: array of [url, hops], hops -1 "+
				"withdraws. Answers ok.",
			[]string{"string", "int", "array"}),
		method("check_did", "Offers a bundle by its identifier, 40 hexadecimal digits, with optionally a struct "+
			"{feed, n}. Answers seen or unseen; unseen asks for put_entries.",
			[]string{"string", "int", "string"}, []string{"string", "int", "string", "struct"}),
		method("check_dids", "Offers up to 64 bundles at once. Answers an array of seen or unseen in the same order.",
			[]string{"array", "int", "array"}),
		method("put_entries", "Delivers a bundle: struct {did, feed, path, entries}. Answers ok once its entries are "+
			"stored.",
			[]string{"string", "int", "struct"}),
		method("query_feed", "Searches the archive, and those of neighbors: struct {feed, words, title, since, "+
			"until, ids, limit, order, id, hops, budget, wait}, all optional. Answers {found, partial, cut, left}.",
			[]string{"struct", "int", "struct"}),
		method("get_entries", "Downloads entries from the archive: array of up to 100 EntryIDs, with optionally a "+
			"struct {digests, askers} of the versions wanted and of nodes that wait for entries of the caller. "+
			"Answers {entries, left, owed, for}; left counts those at the end of the list to be asked for again, "+
			"owed how many were served in exchange, for whom.",
			[]string{"struct", "int", "array"}, []string{"struct", "int", "array", "struct"}),
		method("feedex.whoami", "The caller's address and port as this node sees them, ip:port.",
			[]string{"string", "int"}),
		method("feedex.get_bundle",
			"Asks for a bundle that this node offered to the caller, was asked for and has not delivered. Answers a "+
				"struct {did, feed, path, entries}, as put_entries carries it.",
			[]string{"struct", "int", "string"}),
		method("feedex.vouch", "Whether this node sent the caller a connect with that session token.",
			[]string{"boolean", "int", "string"}),
		method("feedex.account",
			"Tells how the called node stands with the caller: struct {given, got, deficit, bound, waiting}, in "+
				"thousandths of an entry. Answers how the caller stands with the called node.",
			[]string{"struct", "int", "struct"}),
		method("feedex.disconnect", "Ends the link, with a reason in words. Answers ok.",
			[]string{"string", "int", "string"}),
	}, systemMethods()...)
}

// TrackerMethods lists what a tracker answers to.
func TrackerMethods() []Method {
	return append([]Method{
		getNeighbors("Nodes that are running, at random, and registers the caller: its address from the connection, " +
			"its port from nid."),
	}, systemMethods()...)
}

func getNeighbors(help string) Method {
	return method("get_neighbors", help+" Answers an array of {ip, port}.", []string{"array", "int"})
}

func systemMethods() []Method {
	return []Method{
		method("system.listMethods", "The names of all methods.", []string{"array"}),
		method("system.methodHelp", "What the named method does, in words.", []string{"string", "string"}),
		method("system.methodSignature",
			"The ways to call the named method: arrays of the answer's type and the parameters' types.",
			[]string{"array", "string"}),
	}
}

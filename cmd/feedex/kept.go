package main

import (
	"fmt"
	"io"

	"feedex/daemon"
)

// maxKept is how many feeds that stay on the node are told one by one.
const maxKept = 20

// tellKept tells which feeds stay on the node and why, and how their owner says otherwise.
func tellKept(w io.Writer, list []daemon.Kept) {
	open, example := 0, ""
	for i, k := range list {
		if i < maxKept {
			fmt.Fprintf(w, "%s stays on this node: %s\n", printable(string(k.URL)), printable(k.Why))
		}
		if k.Undecided {
			if open++; open == 1 {
				example = quoted(string(k.URL))
			}
		}
	}
	if n := len(list) - maxKept; n > 0 {
		fmt.Fprintf(w, "%s on this node, see 'feedex feeds'\n", plural(int64(n), "more feed stays", "more feeds stay"))
	}
	if open == 0 {
		return
	}
	which := "it"
	if open > 1 {
		which, example = "one of them", "URL"
	}
	fmt.Fprintf(w, "neighbors may know of %s after:  feedex subscribe --private=false %s\n", which, example)
	fmt.Fprintf(w, "it stays private for good after:  feedex subscribe --private %s\n", example)
}

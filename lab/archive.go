package lab

import "feedex/archive"

// Archive is what the member keeps. Nobody may write to it.
func (h *Host) Archive() archive.Searcher { return h.store }

package daemon

import (
	"iter"

	"feedex/archive"
	"feedex/archive/jsonl"
	"feedex/feed"
	"feedex/node"
	"feedex/protocol"
)

// The weight of an event is about how long it takes to step it and to write what comes of it, as the bytes that are
// written in that time.
const (
	eventWeight    = 2 << 10 // of any event
	entryWeight    = 4 << 10 // of an entry, beside its text: rows, indices, and what is known of it
	interestWeight = 256     // of an element of a subscription set
)

// weightOf is the weight of an event, nil for a question about the node.
func weightOf(ev node.Event) int {
	weight := eventWeight
	switch ev := ev.(type) {
	case node.Asked:
		switch c := ev.Call.(type) {
		case protocol.PutEntries:
			weight += entryWeight*len(c.Bundle.Entries) + c.Bundle.WireBytes()
		case protocol.Connect:
			weight += interestWeight * len(c.Subset)
		case protocol.UpdateSubset:
			weight += interestWeight * len(c.Changes)
		}
	case node.Answered:
		switch r := ev.Reply.(type) {
		case protocol.Batch:
			for i := range r.Entries {
				weight += entryWeight + textOf(&r.Entries[i].Entry)
			}
		case *protocol.Bundle:
			weight += entryWeight*len(r.Entries) + r.WireBytes()
		case protocol.Subset:
			weight += interestWeight * len(r)
		}
	case node.Fetched:
		if ev.Document != nil {
			for i := range ev.Document.Entries {
				weight += entryWeight + textOf(&ev.Document.Entries[i])
			}
		}
	case node.Searched:
		for i := range ev.Records {
			weight += recordWeight(&ev.Records[i])
		}
	case node.Recovered:
		weight += entryWeight * len(ev.Records)
	}
	return weight
}

func recordWeight(r *archive.Record) int { return entryWeight + textOf(&r.Entry) }

func lineWeight(l *jsonl.Line) int {
	return entryWeight + len(l.Title) + len(l.Summary) + len(l.Content)
}

// portions are the parts of a list that are stored one after the other, each as heavy as a batch of events.
func portions[T any](list []T, weight func(*T) int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := 0
			for sum := 0; n < len(list) && sum < maxBatchWeight; n++ {
				sum += weight(&list[n])
			}
			if !yield(list[:n:n]) {
				return
			}
			list = list[n:]
		}
	}
}

func textOf(e *feed.Entry) int { return len(e.Title) + len(e.Summary) + len(e.Content) }

package lab

// An event is something that is to happen in a World. It holds no pointer, so that the queue is cheap to
// reorder and nothing to the garbage collector.
type event struct {
	kind  eventKind
	index int32  // of the host, the call or the task that it is about
	life  uint32 // of the host or the call when the event was made; it is void in another
}

type eventKind uint8

const (
	wake    eventKind = iota // a host's node wants to be woken
	arrive                   // a call reaches its receiver
	answer                   // its answer reaches the caller
	expire                   // its time is over
	deliver                  // a document reaches the host that polls
	perform                  // a task of the World's
)

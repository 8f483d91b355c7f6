package tracker

import "time"

// A Status is a Registry's report about itself at one moment. Counters run since it was made.
type Status struct {
	Known   int  `json:"known"`   // ids remembered
	Listed  int  `json:"listed"`  // of these, nodes that may be handed out
	Hosts   int  `json:"hosts"`   // hosts these are on
	Pending int  `json:"pending"` // call backs under way
	Full    bool `json:"full"`    // no more ids can be remembered

	Calls      int64 `json:"calls"`       // calls to Register
	CallBacks  int64 `json:"call_backs"`  // call backs asked for
	Confirmed  int64 `json:"confirmed"`   // call backs that were answered
	Failed     int64 `json:"failed"`      // call backs that were not
	TurnedAway int64 `json:"turned_away"` // callers that could not be remembered
	Handed     int64 `json:"handed"`      // addresses handed out
}

// Status counts what the Registry holds at now.
func (r *Registry) Status(now time.Time) Status {
	r.expire(now)
	s := r.status
	s.Known, s.Pending, s.Full = len(r.known), r.callBacks.Len(), len(r.known) >= r.cfg.Capacity
	return s
}

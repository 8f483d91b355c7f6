package polling

import "time"

// MovingAverage polls a feed at the mean interval between the entries of its document, and waits longer
// the longer nothing is published (Urbansky §3.3). The zero value polls within the range of Urbansky.
type MovingAverage struct{ Range }

// Interval is the mean interval in the document where something is new. Where nothing is, the poll was
// too early: a virtual item at the time p of the poll takes the place of the oldest (Equation 2),
//
//	u_n = u_{n-1} - (i_1 - i_0)/(w-1) + (p - i_{w-1})/(w-1)
//
// where u_{n-1} is the mean interval of the items i_0 to i_{w-1} of the document. Virtual items of
// earlier polls are not items: each poll starts from the document anew, so that the interval depends on
// how long the feed has been silent, and not on how often it was asked meanwhile.
func (m MovingAverage) Interval(p Poll) time.Duration {
	items := p.History.window()
	u, known := meanGap(items)
	switch {
	case !known:
		return m.keep(p)
	case p.New > 0:
		return m.clamp(u)
	}
	w := len(items)
	gaps := time.Duration(w - 1)
	oldest := seconds(items[1] - items[0])
	virtual := seconds(p.At.Unix() - items[w-1])
	return m.clamp(u - oldest/gaps + virtual/gaps)
}

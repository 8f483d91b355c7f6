package polling

import "time"

// LongestStated is the longest that a feed is left alone because its documents say that they stay as they are:
// who states months means the server's default, not the news (RFC 9111 §4.2 lets a client ask before).
const LongestStated = 24 * time.Hour

// Courtesy is for how long a feed is to be left alone, whatever its policy says: for what is left of the time in
// which the answer is fresh (RFC 9111), for as long as the document says that it stays as it is (ttl, the
// syndication module), both LongestStated at most; and for as long as the publisher asks for (Retry-After).
func Courtesy(fresh, stays, retryAfter time.Duration) time.Duration {
	return max(0, min(max(fresh, stays), LongestStated), retryAfter)
}

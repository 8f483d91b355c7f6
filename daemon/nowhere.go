package daemon

import (
	"errors"
	"fmt"

	"feedex/fetch"
	"feedex/guard"
	"feedex/reading"
)

// errNowhere is why others than the owner have nothing of a host that the node does not call, and of one that there is
// not: which names lead to something in the home is not for who has somebody's password to learn.
var errNowhere = fmt.Errorf("%w: it is nowhere on the public web; the setting private_host, or allow_private for all "+
	"hosts, permits others", guard.ErrForbidden)

// told is why something was not had, as the person may learn of it.
func (l *library) told(err error) error {
	if err == nil || l.person == reading.Owner || !fetch.Nowhere(err) {
		return err
	}
	return errNowhere
}

// toldOf is told for a problem that was kept, "" for none.
func (l *library) toldOf(problem string) string { return l.told(errors.New(problem)).Error() }

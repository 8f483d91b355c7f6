package daemon

import (
	"context"

	"feedex/node"
	"feedex/reading"
)

// Starred implements web.PersonalSource. The stars are told to the owner, who tells theirs.
func (l pagesLibrary) Starred(ctx context.Context) ([]node.StarredEntry, error) {
	if l.person != reading.Owner {
		return nil, nil
	}
	return ask(ctx, l.host.loop, (*node.Node).Starred)
}

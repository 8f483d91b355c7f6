package daemon

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"feedex/feed"
	"feedex/fetch"
	"feedex/internal/diskcache"
	"feedex/node"
	"feedex/picture"
)

const (
	// picturesName is the folder of the data directory with the pictures and chapters of entries that were looked at
	// lately, and maxPictures how many bytes it holds.
	picturesName = "pictures"
	maxPictures  = 256 << 20
	// maxPicture is the largest, in bytes.
	maxPicture = 10 << 20
	// pictureRests is for how long one is not asked for again that could not be had, unless its server says for how
	// long; a day at most.
	pictureRests = 10 * time.Minute
	longestRest  = 24 * time.Hour
	// maxFailures is of how many that is remembered.
	maxFailures = 1024
)

// A shownKind is what pages show of an entry beside its text, from where it is.
type shownKind struct {
	before string // its key on the disk
	accept string
	most   int64                      // bytes
	check  func(content []byte) error // says what else it is
}

// The kinds.
var (
	pictureKind = shownKind{"", "image/*", maxPicture, func(content []byte) error {
		if picture.Type(content) == "" {
			return errNoPicture
		}
		return nil
	}}
	chaptersKind = shownKind{"chapters ", "application/json+chapters, application/json", feed.MaxChaptersBytes,
		func(content []byte) error {
			_, err := feed.ParseChapters(content)
			return err
		}}
)

// errNoPicture says that something else is there.
var errNoPicture = errors.New("what is there is no picture")

// pictures are those of entries, and their chapters, as pages show them: from the disk, or from where they are.
type pictures struct {
	host *host
	ctx  context.Context // of the fetches: who has gone leaves a picture for who looks next

	fetches joint[[]byte]

	mu     sync.Mutex
	failed map[string]pictureFailure
}

type pictureFailure struct {
	err   error
	until time.Time
}

// newPictures makes the pictures of a node, which fetches some until ctx ends.
func newPictures(ctx context.Context, h *host) *pictures {
	return &pictures{host: h, ctx: ctx, failed: make(map[string]pictureFailure)}
}

// openShown opens the cache of pictures in the data directory, nil where there can be none.
func openShown(c *Config) *diskcache.Files {
	files, err := diskcache.Open(filepath.Join(c.Data, picturesName), maxPictures)
	if err != nil {
		c.Log.Warn("pictures are fetched anew each time", "err", err)
		return nil
	}
	return files
}

// chaptersWait is for how long a page waits for chapters.
const chaptersWait = 10 * time.Second

// errSlowChapters says that they may come yet.
var errSlowChapters = errors.New("their server has not answered yet")

// get returns what is at an address that an entry of a feed holds. Whoever wants what is being fetched waits for that.
func (p *pictures) get(ctx context.Context, of, at feed.URL, kind *shownKind) ([]byte, error) {
	// The owner's leave for private hosts is for feeds of these.
	key := kind.before + of.Host() + " " + string(at)
	if content, ok := p.kept(key, kind); ok {
		return content, nil
	}
	p.mu.Lock()
	failed, ok := p.failed[key]
	p.mu.Unlock()
	if ok && time.Now().Before(failed.until) {
		return nil, failed.err
	}
	return p.fetches.do(ctx, key, &p.host.workers, func() ([]byte, error) { return p.fetch(key, of, at, kind) })
}

// kept is what is on the disk.
func (p *pictures) kept(key string, kind *shownKind) (content []byte, ok bool) {
	content, ok = p.host.shown.Get(key)
	return content, ok && kind.check(content) == nil
}

// fetch fetches what is to be shown and keeps it, or that it could not be had.
func (p *pictures) fetch(key string, of, at feed.URL, kind *shownKind) ([]byte, error) {
	if content, ok := p.kept(key, kind); ok { // since somebody looked for it
		return content, nil
	}
	content, rest, err := p.ask(of, at, kind)
	if err == nil {
		if err := p.host.shown.Put(key, content); err != nil { // it is shown all the same
			p.host.config.Log.Debug("picture not kept", "err", err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.failed, key)
	if err != nil && p.ctx.Err() == nil {
		if len(p.failed) >= maxFailures {
			clear(p.failed)
		}
		p.failed[key] = pictureFailure{err, time.Now().Add(rest)}
	}
	return content, err
}

// ask asks for what is to be shown, unless its host wants to be left alone. Where there is none it says for how long it
// is not worth asking again.
func (p *pictures) ask(of, at feed.URL, kind *shownKind) (content []byte, again time.Duration, err error) {
	h := p.host
	until, err := glance(p.ctx, h.loop, func(n *node.Node) time.Time {
		return n.HostRests(h.clock.now(time.Now()), at)
	})
	if err != nil {
		return nil, 0, err
	}
	if !until.IsZero() {
		return nil, pictureRests, restingHost{at.Host(), until}
	}
	got := h.getter.Get(p.ctx, fetch.Want{URL: at, For: of, Accept: kind.accept, MaxBytes: kind.most,
		Unlogged: true})
	a := &got.Answer
	if err := h.heed(p.ctx, at, a); err != nil {
		return nil, 0, err
	}
	if a.Err == nil {
		a.Err = kind.check(got.Body)
	}
	if a.Err != nil {
		return nil, min(cmp.Or(a.RetryAfter, pictureRests), longestRest), a.Err
	}
	return got.Body, 0, nil
}

// heed has the node heed an answer to something that is no feed: how often its host may be asked. That a picture is
// forbidden says nothing of feeds.
func (h *host) heed(ctx context.Context, at feed.URL, a *node.Fetched) error {
	if a.RetryAfter <= 0 && a.Status != http.StatusTooManyRequests {
		return nil
	}
	// The worker that asked may outlive the loop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	return h.command(ctx, node.OwnerFetched{At: at, Answer: *a})
}

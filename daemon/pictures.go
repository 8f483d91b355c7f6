package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"feedex/feed"
	"feedex/fetch"
	"feedex/internal/diskcache"
	"feedex/node"
	"feedex/picture"
	"feedex/web"
)

const (
	// picturesName is the folder of the data directory with the pictures of entries that were looked at lately, and
	// maxPictures how many bytes it holds.
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

// pictures are those of entries, as pages show them: from the disk, or from where they are.
type pictures struct {
	host *host
	ctx  context.Context // of the fetches: who has gone leaves a picture for who looks next

	mu       sync.Mutex
	underway map[string]*pictureFetch
	failed   map[string]pictureFailure
}

// A pictureFetch is under way until done is closed.
type pictureFetch struct {
	done    chan struct{}
	content []byte
	err     error
}

type pictureFailure struct {
	err   error
	until time.Time
}

// newPictures makes the pictures of a node, which fetches some until ctx ends.
func newPictures(ctx context.Context, h *host) *pictures {
	return &pictures{host: h, ctx: ctx, underway: make(map[string]*pictureFetch),
		failed: make(map[string]pictureFailure)}
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

// Picture implements web.Archive.
func (d dashboard) Picture(ctx context.Context, number int64, at feed.URL) ([]byte, error) {
	f, err := d.NumberedFeed(ctx, number)
	if err != nil {
		return nil, err
	}
	if f.URL == "" {
		return nil, web.ErrNone
	}
	return d.pictures.get(ctx, f.URL, at)
}

// get returns the picture at an address that an entry of a feed holds. Whoever wants one that is being fetched waits
// for that.
func (p *pictures) get(ctx context.Context, of, at feed.URL) ([]byte, error) {
	key := string(of.Host()) + " " + string(at) // the owner's leave for private hosts is for feeds of these
	if content, ok := p.kept(key); ok {
		return content, nil
	}
	p.mu.Lock()
	f := p.underway[key]
	if f == nil {
		if f, ok := p.failed[key]; ok && time.Now().Before(f.until) {
			p.mu.Unlock()
			return nil, f.err
		}
		f = &pictureFetch{done: make(chan struct{})}
		p.underway[key] = f
		p.host.workers.Go(func() { p.fetch(f, key, of, at) })
	}
	p.mu.Unlock()
	select {
	case <-f.done:
		return f.content, f.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// kept is a picture on the disk.
func (p *pictures) kept(key string) (content []byte, ok bool) {
	content, ok = p.host.shown.Get(key)
	return content, ok && picture.Type(content) != ""
}

// fetch fetches a picture and keeps it, or that it could not be had.
func (p *pictures) fetch(f *pictureFetch, key string, of, at feed.URL) {
	rest, kept := pictureRests, false
	if f.content, kept = p.kept(key); !kept { // since somebody looked for it
		if f.content, rest, f.err = p.ask(of, at); f.err == nil {
			if err := p.host.shown.Put(key, f.content); err != nil { // it is shown all the same
				p.host.config.Log.Debug("picture not kept", "err", err)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.underway, key)
	delete(p.failed, key)
	if f.err != nil && p.ctx.Err() == nil {
		if len(p.failed) >= maxFailures {
			clear(p.failed)
		}
		p.failed[key] = pictureFailure{f.err, time.Now().Add(rest)}
	}
	close(f.done)
}

// errNoPicture says that something else is there.
var errNoPicture = errors.New("what is there is no picture")

// ask asks for a picture, unless its host wants to be left alone. Where there is none it says for how long it is not
// worth asking again.
func (p *pictures) ask(of, at feed.URL) (content []byte, again time.Duration, err error) {
	h := p.host
	until, err := look(p.ctx, h, func(n *node.Node) (time.Time, error) {
		if n == nil { // it rests, for the disk's sake or the clock's
			return time.Time{}, nil
		}
		return n.HostRests(h.clock.now(time.Now()), at), nil
	})
	if err != nil {
		return nil, 0, err
	}
	if !until.IsZero() {
		return nil, pictureRests, fmt.Errorf("%s wants to be left alone until %s", at.Host(),
			until.Local().Format("2006-01-02 15:04"))
	}
	got := h.getter.Get(p.ctx, fetch.Want{URL: at, For: of, Accept: "image/*", MaxBytes: maxPicture, Unlogged: true})
	a := &got.Answer
	if err := h.heed(p.ctx, at, a); err != nil {
		return nil, 0, err
	}
	switch again = min(cmp.Or(a.RetryAfter, pictureRests), longestRest); {
	case a.Err != nil:
		return nil, again, a.Err
	case picture.Type(got.Body) == "":
		return nil, again, errNoPicture
	}
	return got.Body, 0, nil
}

// heed has the node heed an answer to something that is no feed: how often its host may be asked. That a picture is
// forbidden says nothing of feeds.
func (h *host) heed(ctx context.Context, at feed.URL, a *node.Fetched) error {
	if a.RetryAfter <= 0 && a.Status != http.StatusTooManyRequests {
		return nil
	}
	return h.command(context.WithoutCancel(ctx), node.OwnerFetched{At: at, Answer: *a})
}

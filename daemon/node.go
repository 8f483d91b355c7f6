package daemon

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"feedex/archive"
	"feedex/control"
	"feedex/dht"
	"feedex/feed"
	"feedex/fetch"
	"feedex/internal/datadir"
	"feedex/node"
	"feedex/protocol"
	"feedex/reader"
	"feedex/reading"
	"feedex/site"
	"feedex/transport"
)

// Version is the program's version, as its user agent and its status tell it.
const Version = "0.1.0"

// UserAgent is how nodes and trackers name themselves where they call others.
const UserAgent = "feedex/" + Version

// An OpenDatabase opens the archive in the file at path, made and brought to the newest form if necessary. The folder
// exists. Where ctx ends meanwhile, the file stays as it was. Errors that mean a full disk wrap archive.ErrFull.
type OpenDatabase func(ctx context.Context, path string) (reading.Database, error)

// Config says where a node lives. Data, Open, Listen and Reader must be set.
type Config struct {
	Data   string // directory of everything that the node keeps; made if it does not exist
	Open   OpenDatabase
	Listen string // where other nodes reach it, "host:port"; port 0 is any free one; ListenNone for nowhere
	Reader string // where feed readers reach it, "host:port"; port 0 is any free one
	// ReaderHosts are names under which feed readers reach it, besides localhost and IP addresses.
	ReaderHosts []string
	// PasswordFile holds the password of the owner, which is made of it at the start where there is none of the name
	// "owner". Default: none is made.
	PasswordFile string
	// PushTo are the programs, "host:port" each, that may be called with what is new wherever they are, on this machine
	// too. Other subscribers are called at their own address in a private network. Default: none.
	PushTo []string
	// DHT says whether the node meets others by BitTorrent's DHT. Default: as its owner answered, and not at all
	// before that.
	DHT control.DHTUse
	// DHTNodes are where it begins to look for others there, "host:port" each. Default dht.DefaultNodes.
	DHTNodes []string
	// Proxy is the extent to which the node is an HTTP proxy for feed readers, and ProxySubscribe whether it then
	// follows every feed that is asked for. Default: nothing.
	Proxy          ReaderProxy
	ProxySubscribe bool
	// LAN has the node and others on this machine's networks find each other, unless it listens on the loopback
	// interface, or nowhere.
	LAN bool
	// PortMapping has the router forward the node's port, unless the node listens on the loopback interface or nowhere,
	// or private addresses count as public. Default: not at all.
	PortMapping PortMapping
	// TrustedProxies are the reverse proxies whose word counts about the address of a caller.
	TrustedProxies []netip.Prefix
	// Subscribe are feeds to follow, besides those that the archive knows.
	Subscribe []feed.URL
	// Wishes are those of which their owner says how they are to be followed.
	Wishes []node.Subscribe
	// About is a page for publishers who wonder what polls their feeds, in every poll's user agent; "" for none.
	About string
	// Node is the core's own configuration; its Port and its secrets are set by Run. Feeds of its
	// PrivateHosts are read also where these are at addresses that are not public.
	Node node.Config
	// Retention has the limits of the whole archive, beside those of single feeds.
	Retention archive.Retention
	// Reserve is how many bytes of the disk are set aside, so that something can be purged when it is full:
	// ReserveBytes. Default: none.
	Reserve int64
	// Log is where the node tells what happens. Default: nowhere.
	Log *slog.Logger
	// Ready is called once the node serves.
	Ready func(Addresses)
	// Turned is called whenever the loop turns: at least once a minute, unless something hangs, as a disk may.
	Turned func()
	// Observe is called with every note of the node, from its loop: it must not block.
	Observe func(now time.Time, note node.Note)

	revival time.Duration // the first wait after a storage fault, where a test cannot wait for firstRevival
	// the time between two looks for what is not to be kept, where a test cannot wait for retainEvery
	retainPause   time.Duration
	meetPause     time.Duration  // between two looks at whether to meet others, where a test cannot wait for those
	iconLooked    func(feed.URL) // told whose picture was looked for, where a test waits for that
	textPause     time.Duration  // between two full texts, where a test cannot wait for textPause
	textHolds     time.Duration  // for how long one is not asked for again, in place of textHolds
	iconPause     time.Duration  // between two looks for pictures of feeds, where a test cannot wait for iconPause
	standingPause time.Duration  // between two standing queries, where a test cannot wait for standingPause
	pastPause     time.Duration  // the time between two steps into the past, where a test cannot wait for the default

	roomOn  func(directory string) (room, size int64) // where a test says how full the disk is
	metered func(net.Listener) net.Listener           // where a benchmark counts what neighbors send
	sites   siteFinder                                // where a test has no web and no names
}

// ListenNone is the Config.Listen of a node that others cannot dial.
const ListenNone = "none"

// withDefaults is the Config with each zero field at its default.
func (c Config) withDefaults() Config {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Turned == nil {
		c.Turned = func() {}
	}
	c.revival = cmp.Or(c.revival, firstRevival)
	c.DHT = cmp.Or(c.DHT, control.DHTAsk)
	if len(c.DHTNodes) == 0 {
		c.DHTNodes = dht.DefaultNodes()
	}
	c.retainPause = cmp.Or(c.retainPause, retainEvery)
	if c.roomOn == nil {
		c.roomOn = roomOn
	}
	if c.sites == nil {
		c.sites = site.New(site.Config{AllowLocal: c.Node.AllowLocal, UserAgent: UserAgent})
	}
	if c.metered == nil {
		c.metered = func(ln net.Listener) net.Listener { return ln }
	}
	return c
}

// Addresses are where a node really listens, "host:port" each; Listen is ListenNone where nobody can dial it.
type Addresses struct{ Listen, Reader string }

// Run hosts a node until ctx ends, and then ends it cleanly: its neighbors are told, calls that run
// are answered or time out, and the archive is closed. The error wraps datadir.ErrInUse where another node
// runs on the data directory.
func Run(ctx context.Context, c Config) error {
	c = c.withDefaults()
	unlock, err := datadir.Lock(c.Data)
	if err != nil {
		return err
	}
	defer unlock()
	store, err := openArchive(ctx, &c)
	if err != nil && ctx.Err() != nil { // which has ended that as well
		return nil
	} else if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer store.Close()
	if err := makeFirst(ctx, store, c.PasswordFile, c.Log); err != nil {
		return err
	}
	keeping, err := store.Housekeeper()
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer keeping.Close()

	listeners, err := listen(&c)
	if err != nil {
		return err
	}
	defer listeners.close()
	if c.Node.Port = protocol.DefaultPort; listeners.peers != nil {
		c.Node.Port = portOf(listeners.peers)
	}
	c.Node.Undialled = listeners.peers == nil
	c.Node.Secret = make([]byte, 32)
	crand.Read(c.Node.Secret)
	if c.Node.Key, err = nodeKey(c.Data, c.Log); err != nil {
		return err
	}

	var h *host
	hosting := newHosting(c, func() *host { return h })
	defer hosting.Close()
	meter := new(transport.Meter)
	onLAN := newResponder(c, listeners.peers, func(ev node.Discovered) { h.discovered(ev) })
	client := transport.NewClient(transport.ClientConfig{Port: c.Node.Port, AllowLocal: c.Node.AllowLocal,
		Near: nearOn(onLAN), UserAgent: UserAgent, Key: c.Node.Key, Hosting: hosting, Meter: meter})
	defer client.CloseIdle()
	fetcher := fetch.New(fetch.Config{AllowLocal: c.Node.AllowLocal, PrivateHosts: c.Node.PrivateHosts,
		UserAgent: UserAgent, About: c.About})
	defer fetcher.CloseIdle()
	h = newHost(c, store, keeping, client, fetcher)
	h.onLAN, h.hosting, h.getter, h.meter = onLAN, hosting, fetcher, meter
	h.peers = transport.NewHandler(transport.HandlerConfig{
		Methods: protocol.NodeMethods(), Serve: h.serve, Hosting: hosting, TrustedProxies: c.TrustedProxies, Log: c.Log,
		Meter: meter,
	})
	h.at = Addresses{Listen: ListenNone, Reader: listeners.reader.Addr().String()}
	if listeners.peers != nil {
		h.at.Listen = listeners.peers.Addr().String()
	}
	h.noted = h.latestPast()
	waits := h.awaitClock(h.clock.now(time.Now()))
	if !waits {
		if err := h.revive(); err != nil {
			return err
		}
	}
	return h.run(ctx, listeners, waits)
}

// longOpening is how long it takes to open an archive of which the owner hears why.
const longOpening = 5 * time.Second

// openArchive opens the archive of a data directory. On a disk that is full that takes the reserve.
func openArchive(ctx context.Context, c *Config) (reading.Database, error) {
	path := DatabasePath(c.Data)
	// A node that was killed as it began leaves one as well, and is to start again.
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		c.Log.Warn("the archive's file is empty, so the node begins anew: if there was an archive, stop the node and "+
			"put a backup in its place", "file", path)
	}
	defer time.AfterFunc(longOpening, func() {
		c.Log.Info("the archive is not open yet: what an older feedex wrote is converted once; to end that undoes it",
			"file", path)
	}).Stop()
	store, err := c.Open(ctx, path)
	if errors.Is(err, archive.ErrFull) && reserveIn(c.Data, 0).release() {
		return c.Open(ctx, path)
	}
	return store, err
}

// databaseName is the archive's file in the data directory.
const databaseName = "feedex.db"

// DatabasePath is where the archive of the node on a data directory lies.
func DatabasePath(data string) string { return filepath.Join(data, databaseName) }

// run serves until ctx ends or one of the parts fails. waits says that there is no core yet, for the clock's sake.
func (h *host) run(ctx context.Context, l *listenerSet, waits bool) error {
	// The loop outlives the servers, so that the calls they still have get their answers.
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	looping, stopLoop := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoop()

	h.shown, h.texts = openShown(&h.config), newFullTexts(serving, h)
	open := openAt(l.reader)
	pages, err := newDashboard(serving, h, func(r *http.Request) bool { return !open(r) })
	if err != nil {
		return err
	}
	forReaders := reader.Config{
		Source: ownersArchive{h.store, h.store.Shelf(reading.Owner)}, Sync: h.syncAPIs(),
		Hosts: h.config.ReaderHosts, Entrance: entrance{h}, Filters: h.store,
		Web: pages, Known: func(r *http.Request) bool { return open(r) || pages.LoggedIn(r) }, Version: Version,
		Metrics: http.HandlerFunc(h.metrics), Health: http.HandlerFunc(h.healthz), Log: h.config.Log,
	}
	if h.teller, err = newTeller(h); err != nil {
		return err
	}
	defer h.teller.CloseIdle()
	h.hub = newHub(h, forReaders)
	defer h.hub.CloseIdle()
	forReaders.Hub = h.hub
	readers := reader.New(forReaders)

	limiter := transport.NewLimiter(transport.LimiterConfig{Neighbor: h.known.has, Reader: h.callers.familiar})
	serve := func(ln net.Listener, handler http.Handler, owner bool) {
		c := transport.ServerConfig{
			Limiter: limiter, Owner: owner, TrustedProxies: h.config.TrustedProxies, Log: h.config.Log,
		}
		if !owner {
			c.Meter = h.meter
		}
		stop(transport.Serve(serving, ln, handler, c))
	}
	var servers, loop sync.WaitGroup
	loop.Go(func() {
		h.awaitRouter(serving, routerPatience)
		h.loop.run(looping)
	})
	if l.peers != nil {
		servers.Go(func() { serve(h.config.metered(l.peers), h.peers, false) })
	}
	servers.Go(func() {
		serve(l.reader, withCaller(h.proxied(readers, open), h.config.TrustedProxies), true)
	})
	owner := personal{h, h.libraryOf(reading.Owner)}
	servers.Go(func() { serve(l.control, control.NewHandler(owner), true) })
	servers.Go(func() {
		if err := h.hub.Run(serving); err != nil {
			h.config.Log.Error("feeds are not pushed", "err", err)
		}
	})
	if h.onLAN != nil {
		servers.Go(func() { h.findNear(serving, h.onLAN.Run) })
	}
	servers.Go(h.texts.find)
	for _, work := range []func(context.Context){h.mapPort, h.tellAddresses, h.teller.Run, h.fillPast, h.meet, h.retain,
		h.housekeep, h.findIcons, h.resumeFilters, h.askStanding} {
		servers.Go(func() { work(serving) })
	}
	standing := func() {
		for _, wish := range append([]node.Subscribe{{Feeds: h.config.Subscribe, Standing: true}}, h.config.Wishes...) {
			if err := h.Subscribe(serving, wish); err != nil && !errors.As(err, new(control.BadRequest)) {
				stop(err)
			}
		}
	}
	if waits {
		servers.Go(func() { h.untilClock(serving); standing() })
	} else {
		standing()
	}
	if h.config.Ready != nil {
		h.config.Ready(h.at)
	}
	<-serving.Done()
	h.leave(looping)
	servers.Wait()
	stopLoop()
	loop.Wait()
	h.workers.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(serving)
}

// seed is 64 bits of chance for the node's own generator.
func seed() uint64 {
	var b [8]byte
	crand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

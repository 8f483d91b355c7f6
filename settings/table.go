package settings

import (
	"time"

	"feedex/control"
	"feedex/daemon"
	"feedex/incentive"
	"feedex/node"
	"feedex/polling"
)

// A setting is a row of the table: whoever adds one writes a row, and the field to which it goes.
type setting struct {
	key     string // in the config file, after its table: "polling.min"
	usual   any    // the default, whose type is the setting's; nil for a table of the config file
	kind    *Kind  // of a text, or of each in a list
	also    Role   // who has it besides nodes
	flag    string // what help says of the flag of a text, list or switch, named like the key, with dashes; "" for none
	noKey   string // of a flag that has no key: what help says in its place
	meaning string // what the config file says of it; "" if that is said where the setting before it stands
	example string // what stands behind it there
	unset   bool   // the default is none that could stand there

	// check says of a value of the right kind, once all are known, what would be right, "" if it is.
	check func(v value) string
	to    func(c *daemon.Config, v value) // where it goes, after those before it
}

// table are all settings, in the order of the config file.
func table() []setting {
	return []setting{
		{key: "data", usual: "", unset: true, example: `"/var/lib/feedex"`, kind: Directory,
			also: Client | Tracker, flag: "data directory",
			meaning: `
The directory of everything that the node keeps: the archive, its lock, its control socket. One node
a directory, on a disk of this machine, not on a share of another. The default is the user's data directory: ~/.local/share/feedex on Linux,
~/Library/Application Support/feedex on macOS, %LocalAppData%\feedex on Windows. A ~ in front is your home directory.
What has a backslash stands in single quotes: 'D:\feedex'. On Windows it is the folder's own permissions that say who
may read what is kept there: choose one that is yours alone.`},
		{key: "listen", usual: ":7790", kind: Listener, also: Tracker,
			flag: "address at which other nodes reach this one",
			to:   func(c *daemon.Config, v value) { c.Listen = v.text() },
			meaning: `
Where other nodes reach this one, host:port; without a host on every address of the machine. A node that others
cannot dial, because it is behind a router, finds that out and has its neighbors call it over connections that it
keeps open; with "none" it does so from the start. Forward this port on your router if you can: then the node hosts
others in turn.`},
		{key: "reader", usual: "127.0.0.1:7791", kind: Address,
			flag: "address at which feed readers reach this node",
			to:   func(c *daemon.Config, v value) { c.Reader = v.text() },
			meaning: `
Where feed readers reach this node, host:port. Who reads there reads every feed that the node has, private ones too.
On this machine everybody may; at any other address readers need a password, which 'feedex password add' makes, and
which goes over the network as it is: let a reverse proxy speak TLS where the network is not yours. Who comes by one needs
a password as well, if it says so by X-Forwarded-For or the like (docs/READERS.md).`},
		{key: "reader_host", usual: []string(nil), example: `["nas.local"]`, kind: OwnName,
			flag: "host name under which feed readers reach this node, besides localhost and IP addresses (repeatable)",
			to:   func(c *daemon.Config, v value) { c.ReaderHosts = withNameOf(v.of.text("reader"), v.texts()) },
			meaning: `
Names under which feed readers reach this node. It answers under localhost and IP addresses always, and
under the host in reader; under other names web pages could read it from your browser.`},
		{key: "password_file", usual: "", example: `"/run/secrets/feedex"`, kind: File,
			flag: "file with the owner's password, which is made at the start if there is none yet",
			to:   func(c *daemon.Config, v value) { c.PasswordFile, _ = toHome(v.text()) },
			meaning: `
A file with a password of the owner, one line of 12 characters or more, as 'openssl rand -hex 16' makes: for a node
that is reached from elsewhere before anybody can run 'feedex password add' beside it, as one in a container. At the
start it becomes the password of the user "owner", unless there is one of that name.`},
		{key: "reader_push", usual: []string(nil), example: `["127.0.0.1:8080"]`, kind: Program,
			flag: "host:port of a program on this machine that may have new entries pushed to it (repeatable)",
			to:   func(c *daemon.Config, v value) { c.PushTo = v.texts() },
			meaning: `
Programs that may have new entries pushed to them (WebSub) although they are on this machine, host:port. Others are
called at the address from which they subscribed, in a private network, and nowhere else: what listens on this machine
for this machine alone is nobody else's to have called.`},
		{key: "reader_proxy", usual: "feeds", kind: Proxy,
			flag: "what feed readers get that use this node as their HTTP proxy: off, feeds or all",
			to:   func(c *daemon.Config, v value) { c.Proxy = daemon.ReaderProxy(v.text()) },
			meaning: `
What feed readers get that use that address as their HTTP proxy: "feeds" are those that the node follows, answered from
its archive whatever their publishers do. All else is refused, so that a reader which uses the proxy for everything
shows no pictures and no pages. "all" lets that pass, tunnels to https:// included, to ports 80 and 443 of the public
Internet; "off" is nothing. A feed at https:// is asked for with http:// in front, since nobody can answer from the
archive what goes through a tunnel.`},
		{key: "reader_proxy_subscribe", usual: false,
			to: func(c *daemon.Config, v value) { c.ProxySubscribe = v.is() },
			meaning: `
Whether the node looks at every other address at http:// that the proxy is asked for, at most once an hour, and follows
it from then on if it is a feed. Every program that reaches the proxy can choose what is followed then.`},
		{key: "tracker", usual: []string(nil), example: `["http://tracker.example.net:7788/"]`, kind: TrackerURL,
			flag: "URL of a tracker to find neighbors with (repeatable)",
			to:   func(c *daemon.Config, v value) { c.Node.Trackers = sources(v.texts()) },
			meaning: `
Trackers to find neighbors with.`},
		{key: "peer", usual: []string(nil), example: `["node.example.net:7790", "example.org"]`, kind: Peer,
			flag: "host:port of a node to have as a neighbor, or a site that names nodes (repeatable)",
			to:   func(c *daemon.Config, v value) { c.Node.Peers = sources(v.texts()) },
			meaning: `
Nodes to have as neighbors always. A name without a port is that of a site, of whose nodes one is chosen: those of its
document https://example.org/.well-known/feedex ('feedex invite --well-known' prints one), or else of its name server's
SRV records for _feedex._tcp.example.org.`},
		{key: "dht", usual: string(control.DHTAsk), kind: MeetByDHT,
			to: func(c *daemon.Config, v value) { c.DHT = control.DHTUse(v.text()) },
			meaning: `
Whether to find neighbors by BitTorrent's DHT (on or off): it tells whoever looks there that this address runs feedex,
and nothing of what you read. With "ask" the first page of the dashboard asks, 'feedex dht' answers, and it is off until
then. The node looks there a minute after its start at the earliest, while it has too few neighbors, and says where it
is once others have dialled it.`},
		{key: "dht_node", usual: []string(nil), example: `["router.bittorrent.com:6881"]`, kind: Program,
			to: func(c *daemon.Config, v value) { c.DHTNodes = v.texts() },
			meaning: `
Nodes of the DHT with which it begins there, instead of those that are known for that.`},
		{key: "lan", usual: true,
			flag: "find nodes on the networks that this machine is on, and be found there",
			to:   func(c *daemon.Config, v value) { c.LAN = v.is() },
			meaning: `
Whether to find nodes on the local networks that this machine is on, and be found there (DNS-SD over multicast DNS, service
_feedex._tcp). Whoever is on such a network hears that a node is there, its port and its key: set it to false where
that is nobody's business, as on a laptop that comes to networks of others. Only networks with addresses that are not public
count, and none where listen is an address on this machine alone, or "none".`},
		{key: "port_mapping", usual: "pcp", kind: PortMapping,
			flag: "how to have the router forward the port at which the node listens: off, pcp or upnp",
			to:   func(c *daemon.Config, v value) { c.PortMapping = daemon.PortMapping(v.text()) },
			meaning: `
How to have the router forward the node's port to it, so that others can dial it, and it can host those that cannot be:
by "pcp" (PCP, or NAT-PMP), or by "upnp", and by these where the router does not know it; "off" is not at all. A
firewall for IPv6 is asked to let the port in, by PCP. The router ends that 20 minutes after the node is gone, but some
forward by UPnP until they are told otherwise, or restarted. By IPv4 the node asks for nothing where the machine has a
public address; it asks for nothing at all where listen is an address on this machine alone, or "none". 'feedex doctor network' says what came of it.`},
		{key: "subscribe", usual: []string(nil),
			example: `["https://example.com/feed.xml", "private:https://members.example.com/feed.xml"]`,
			kind:    Wish,
			flag: "URL of a feed to follow, with public:, private: or discreet: in front if it is to be followed so " +
				"(repeatable)",
			to: func(c *daemon.Config, v value) { c.Subscribe, c.Wishes = wishes(v.texts()) },
			meaning: `
Feeds to follow, besides those added with 'feedex subscribe'. The node remembers them: one that is removed
here is followed on, until 'feedex unsubscribe'. In front of an address may stand "private:", the feed stays on this
node; "public:", neighbors may know of it although its address looks like a secret; or "discreet:", they are not to see
that this node follows it. That holds from each start on.`},
		{key: "backfill", usual: "1y", kind: Past,
			to: func(c *daemon.Config, v value) { c.Node.Backfill = reach(v.text()) },
			meaning: `
How far back the past of a feed is filled in by itself when it is followed: a span of time, "all" or "none".
After the first poll the node reads the publisher's own archive, where the document leads to one (RFC 5005), and then
asks neighbors that have the feed, one request every half a minute for all feeds together. It goes on after a
restart. Of a publisher's archive it reads 500 documents at most, and about 200 MB of text. Neighbors, and nobody
beyond them, are asked, but those as well with query.network = "always", and nobody with "never"; about feeds that
are followed discreetly the publisher alone. The past of private feeds, and what is beyond those bounds, is left to
'feedex backfill', which does the same at once for one feed, as far back as you like.`},
		{key: "allow_private", usual: false, also: Tracker,
			flag: "treat loopback and private addresses as public: for test networks and a LAN",
			to:   func(c *daemon.Config, v value) { c.Node.AllowLocal, c.Node.Incentive.TrustLocal = v.is(), v.is() },
			meaning: `
Treat loopback and private addresses as public: for test networks, and a network of your own.`},
		{key: "private_host", usual: []string(nil), example: `["nas.local"]`, kind: Host,
			flag: "host on a private address whose feeds may be polled; they never leave this node (repeatable)",
			to:   func(c *daemon.Config, v value) { c.Node.PrivateHosts = v.texts() },
			meaning: `
Hosts on private addresses whose feeds may be polled all the same. Those feeds never leave the node.`},
		{key: "trusted_proxy", usual: []string(nil), example: `["127.0.0.1"]`, kind: Network, also: Tracker,
			flag: "reverse proxy whose Forwarded header is believed, an address or network (repeatable)",
			to:   func(c *daemon.Config, v value) { c.TrustedProxies = prefixes(v.texts()) },
			meaning: `
Reverse proxies in front of the node, addresses or networks. Only what comes from them is believed
when it says, in a Forwarded or X-Forwarded-For header, for whom it comes.`},
		{key: "log_level", usual: "info", kind: Level, also: Tracker,
			flag: "least level to log: debug, info, warn or error",
			meaning: `
What to log: debug, info, warn or error and what is graver; and how: text or json.`},
		{key: "log_format", usual: "text", kind: Format, also: Tracker,
			flag: "format of the log: text or json"},
		{key: "max_neighbors", usual: 10, check: between(1, 64, ""),
			to: func(c *daemon.Config, v value) { c.Node.MaxNeighbors = v.number() },
			meaning: `
How many neighbors to have at most (1 to 64), and below how many to look for more (at most as many).`},
		{key: "min_neighbors", usual: 8, check: checkMinNeighbors,
			to: func(c *daemon.Config, v value) { c.Node.MinNeighbors = min(v.number(), c.Node.MaxNeighbors) }},
		{key: "hosted", usual: node.DefaultHosted, check: between(0, node.MaxHosted, ", where 0 is none"),
			to: func(c *daemon.Config, v value) { c.Node.Hosted = v.numberOrNone() },
			meaning: `
How many neighbors to have besides that others cannot dial, at most (0 to 100): they are called over connections
that they keep open.`},
		{key: "max_subset_hops", usual: 3, check: between(1, 8, ""),
			to: func(c *daemon.Config, v value) { c.Node.MaxSubsetHops = v.number() },
			meaning: `
How far feeds that others follow are passed on: a neighbor's own feeds are one hop away (1 to 8).`},
		{key: "advert_interval", usual: "300s", kind: Span, check: spanning(time.Second, 24*time.Hour),
			to: func(c *daemon.Config, v value) { c.Node.AdvertInterval = v.span() },
			meaning: `
How often neighbors are told what changed in the feeds we carry (1s to 1d).`},
		{key: "seen_dids", usual: 1000, check: between(1, 1_000_000, ""),
			to: func(c *daemon.Config, v value) { c.Node.SeenDIDs = v.number() },
			meaning: `
How many of the latest bundles are remembered exactly (1 to 1000000); older ones are looked up in the
archive.`},
		{key: "deficit_bound", usual: 10, check: between(0, 1000, ", where 0 is no bound"),
			to: func(c *daemon.Config, v value) { c.Node.Incentive.Bound = v.numberOrNone() },
			meaning: `
How many entries more than it gave a neighbor may have got (1 to 1000; 0 is no bound). What is beyond
that waits until it gives. A neighbor that is new begins with one entry.`},
		{key: "give_total", usual: incentive.DefaultGifts, check: between(0, 1_000_000_000, ""),
			to: func(c *daemon.Config, v value) { c.Node.Incentive.Gifts = int64(v.numberOrNone()) },
			meaning: `
How many bytes of old entries may be given away in an hour to nodes that are no neighbors, or owe too much
(0 is none; what is not asked for may be given later, up to a day's), and how many of them to one address.`},
		{key: "give_address", usual: incentive.DefaultGift, check: between(0, 1_000_000_000, ""),
			to: func(c *daemon.Config, v value) { c.Node.Incentive.Gift = int64(v.numberOrNone()) }},
		{key: "volunteer", usual: 0, check: between(0, 1000, ""),
			to: func(c *daemon.Config, v value) { c.Node.Volunteer = v.number() },
			meaning: `
How many feeds that you do not follow this node polls for neighbors that want them (0 to 1000; try 200): those
first that one neighbor follows and nobody else polls, four new ones a day at most and two a host. What it
brings earns credit, and neighbors cannot tell which of the feeds that it polls are yours, as far as somebody else
had named them: a feed that you alone follow is not hidden so. It makes requests at publishers that you did not
choose, so there are none unless you want them. 'feedex subscribe --discreet' is for feeds that are nobody's
business, none of which are volunteered: leave this at 0 where somebody who guesses one must not be able to tell
that from it.`},
		{key: "about", usual: "", example: `"https://example.com/about-my-node"`, kind: PageURL,
			to: func(c *daemon.Config, v value) { c.About = v.text() },
			meaning: `
A page for publishers who wonder who polls their feeds. Every poll names it, after the version of the program and
before the word that one subscriber asks: "feedex/0.1.0 (+https://example.com/about-my-node; 1 subscriber)". Where
it is at https:// push services of browsers are told it as well; that of Apple wants to be.`},
		{key: "polling", meaning: `
When feeds are polled. What a publisher asks for goes before that: see docs/POLITENESS.md.`},
		{key: "polling.policy", usual: "auto", kind: Policy,
			meaning: `
When to poll a feed again; 'feedex subscribe --poll' chooses for one feed. With auto and feedex the node polls
the more rarely the more its neighbors bring; the others pay no heed to that.
  auto            when the entries that are to be expected by then, by hour and weekday, have waited long enough,
                  those left out that neighbors bring; and before half of the document is new
  feedex          half as long where more of the document was new than wanted, twice as long where less was
  fixed           always after the same time
  fix-learned     after the mean time between the entries of the feed's first document
  moving-average  after the mean time between the entries of its document, later while nothing is new
  post-rate       when the next entry is to be expected, by the minutes of the day of those before`},
		{key: "polling.interval", usual: "2h", kind: Span, check: pollRange,
			to: func(c *daemon.Config, v value) { c.Node.Polling.Every = v.span() },
			meaning: `
The interval of policy fixed. The flag --poll sets both.`},
		{key: "polling.target_freshness", usual: polling.DefaultTarget, check: checkFreshness,
			to: func(c *daemon.Config, v value) { c.Node.Polling.TargetFreshness = v.fraction() },
			meaning: `
For policy feedex: the share of new entries that a document should hold (more than 0, at most 1; the
smaller, the sooner entries come and the more requests it takes).`},
		{key: "polling.target_delay", usual: "1h", kind: Span, check: pollRange,
			to: func(c *daemon.Config, v value) { c.Node.Polling.TargetDelay = v.span() },
			meaning: `
For policy auto: for how long the entries that a poll finds may have waited, added up. Where each poll finds
about one entry that is their delay (1s to 30d; a quarter of it takes twice the requests).`},
		{key: "polling.min", usual: "30m", kind: Span, check: checkMin,
			to: func(c *daemon.Config, v value) { c.Node.Polling.Range.Min = v.span() },
			meaning: `
For every policy but fixed: the shortest and the longest interval (1s to 30d each), but that auto comes sooner
where half of the document would be new by then, and up to 3.6 times later where neighbors bring entries. For
policy feedex, the one that a feed starts with.`},
		{key: "polling.max", usual: "16h", kind: Span, check: checkMax,
			to: func(c *daemon.Config, v value) { c.Node.Polling.Range.Max = v.span() }},
		{key: "polling.start", usual: "2h", kind: Span, check: checkStart,
			to: func(c *daemon.Config, v value) { c.Node.Polling.Start = start(v) }},
		{key: "retention", meaning: `
What is kept. Everything of every feed that you follow or followed, unless you say otherwise here or, for single feeds, with
'feedex subscribe --keep-age'. What goes beyond a bound is purged within minutes, the oldest arrival first, and what was
filled in before all; what is starred never goes, nor does the latest entry of a feed that you follow. Neither polls
nor neighbors bring back what was purged. 'feedex status' shows what is kept. A node that rests because its disk is full
takes no bound for a feed: set one here and start it anew, and it makes room by means of what it set aside.`},
		{key: "retention.bytes", usual: "all", example: `"10GB"`, kind: Size, check: checkBytes,
			to: func(c *daemon.Config, v value) { c.Retention.All.Bytes = Bytes(v.text()) },
			meaning: `
How much room the archive may take on disk ("16MiB" or more, or "all"), how long ago entries may have arrived ("1d" or
more, or "all"), and how many there may be (100 or more; 0 is all), all feeds together.`},
		{key: "retention.age", usual: "all", example: `"2y"`, kind: Age, check: checkAge,
			to: func(c *daemon.Config, v value) { c.Retention.All.Age = Lifetime(v.text()) }},
		{key: "retention.count", usual: 0, check: checkCount,
			to: func(c *daemon.Config, v value) { c.Retention.All.Count = int64(v.number()) }},
		{key: "retention.relayed", usual: "1GiB", kind: Size, check: checkBytes,
			to: func(c *daemon.Config, v value) { c.Retention.Relayed = Bytes(v.text()) },
			meaning: `
How much text is kept of feeds that you never followed, which neighbors brought or the node polls for them ("16MiB" or
more, or "all"): the node passes it on, and answers queries from it.`},
		{key: "query", meaning: `
Searches of your own, with 'feedex query'.`},
		{key: "query.network", usual: "ask", kind: AskOthers,
			to: func(c *daemon.Config, v value) { c.Node.QueryNetwork = node.QueryNetwork(v.text()) },
			meaning: `
Whether neighbors, and those beyond them, are asked as well: only with --network (ask), unless --hops 0 says
otherwise (always), or never. It shows them what you look for, though not that it is you who began. What slipped out
of a feed between two polls, and the past of feeds (see backfill), neighbors are asked for by the node itself, but for
never.`},
		{key: "config", usual: "", kind: File, also: Client, flag: "config file", noKey: "-"},
		{key: "poll", usual: "", kind: Span,
			flag:  "poll every feed at this fixed interval, a span such as 30m",
			noKey: `polling.interval, with polling.policy = "fixed"`, check: checkPoll,
			to: func(c *daemon.Config, v value) { c.Node.Policy = policy(c, v) }},
	}
}

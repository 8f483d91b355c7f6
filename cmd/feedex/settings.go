package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"feedex/incentive"
	"feedex/polling"
)

// settings are what the owner of a node or a tracker may choose. The tags name the keys of the config
// file; where there is a flag it has the same name with dashes. sample.toml explains each.
type settings struct {
	Data         string      `toml:"data"`
	Listen       address     `toml:"listen"`
	Reader       address     `toml:"reader"`
	ReaderHost   []ownName   `toml:"reader_host"`
	ReaderPush   []pushed    `toml:"reader_push"`
	ReaderProxy  proxyKind   `toml:"reader_proxy"`
	ReaderPass   bool        `toml:"reader_proxy_pass"`
	Tracker      []trackerAt `toml:"tracker"`
	Peer         []peer      `toml:"peer"`
	Subscribe    []wish      `toml:"subscribe"`
	Backfill     past        `toml:"backfill"`
	AllowPrivate bool        `toml:"allow_private"`
	PrivateHost  []host      `toml:"private_host"`
	TrustedProxy []network   `toml:"trusted_proxy"`
	LogLevel     level       `toml:"log_level"`
	LogFormat    format      `toml:"log_format"`

	MaxNeighbors   int  `toml:"max_neighbors"`
	MinNeighbors   int  `toml:"min_neighbors"`
	MaxSubsetHops  int  `toml:"max_subset_hops"`
	AdvertInterval span `toml:"advert_interval"`
	SeenDIDs       int  `toml:"seen_dids"`
	DeficitBound   int  `toml:"deficit_bound"`
	CoverFeeds     int  `toml:"cover_feeds"`
	GiveTotal      int  `toml:"give_total"`
	GiveAddress    int  `toml:"give_address"`

	About pageURL `toml:"about"`

	Polling   pollingSettings   `toml:"polling"`
	Retention retentionSettings `toml:"retention"`
	Query     querySettings     `toml:"query"`
	Poll      span              `toml:"-"` // the flag that stands for policy fixed at this interval

	Config string `toml:"-"` // the config file, "" for the usual one
}

// pollingSettings choose when feeds are fetched.
type pollingSettings struct {
	Policy          policy  `toml:"policy"`
	Interval        span    `toml:"interval"`
	TargetFreshness float64 `toml:"target_freshness"`
	TargetDelay     span    `toml:"target_delay"`
	Min             span    `toml:"min"`
	Max             span    `toml:"max"`
	Start           span    `toml:"start"`
}

// retentionSettings are what is kept of the archive.
type retentionSettings struct {
	Bytes   size `toml:"bytes"`
	Age     age  `toml:"age"`
	Count   int  `toml:"count"`
	Relayed size `toml:"relayed"`
}

// querySettings are about queries of the owner.
type querySettings struct {
	Network askOthers `toml:"network"`
}

// defaultSettings are the settings of a node whose owner chose none. Data is filled in by load, since
// finding it may fail.
func defaultSettings() settings {
	return settings{
		Listen: ":7790", Reader: "127.0.0.1:7791", ReaderProxy: "known", LogLevel: "info", LogFormat: "text",
		Backfill:     "1y",
		MaxNeighbors: 10, MinNeighbors: 8, MaxSubsetHops: 3, AdvertInterval: "300s", SeenDIDs: 1000, DeficitBound: 10,
		GiveTotal: incentive.DefaultGifts, GiveAddress: incentive.DefaultGift,
		Polling: pollingSettings{
			Policy: "auto", Interval: "2h", TargetFreshness: polling.DefaultTarget, TargetDelay: "1h", Min: "30m",
			Max: "16h", Start: "2h",
		},
		Query:     querySettings{Network: "ask"},
		Retention: retentionSettings{Bytes: keepAll, Age: keepAll, Relayed: "1GiB"},
	}
}

// A binding registers flags for some of the settings. Each flag's default is what its setting holds.
type binding func(f *pflag.FlagSet, s *settings)

// bindData registers the flag that names the data directory. Where none is chosen it has this name.
func bindData(f *pflag.FlagSet, s *settings, name string) {
	usual := "none, as this user has no home directory"
	if dir, err := defaultData(name); err == nil {
		usual = fromHome(dir)
	}
	f.Var(&namedValue{&s.Data, "directory"}, "data", fmt.Sprintf("data directory (default: %s)", usual))
}

// bindConfig registers the flag that names the config file.
func bindConfig(f *pflag.FlagSet, s *settings) {
	usual := "none"
	if path := usualConfig(); path != "" {
		usual = fromHome(path) + ", if there is one"
	}
	f.Var(&namedValue{&s.Config, "file"}, "config", fmt.Sprintf("config file (default: %s)", usual))
}

// bindClient registers the flags of the commands that talk to a running node.
func bindClient(f *pflag.FlagSet, s *settings) {
	bindData(f, s, nodeData)
	bindConfig(f, s)
}

// bindServer registers the flags that a node and a tracker share.
func bindServer(f *pflag.FlagSet, s *settings) {
	f.Var(&s.Listen, "listen", "address at which other nodes reach this one")
	f.Var(&list[networkRule]{items: &s.TrustedProxy}, "trusted-proxy",
		"reverse proxy whose Forwarded header is believed, an address or network (repeatable)")
	f.BoolVar(&s.AllowPrivate, "allow-private", s.AllowPrivate,
		"treat loopback and private addresses as public: for test networks and a LAN")
	f.Var(&s.LogLevel, "log-level", "least level to log: debug, info, warn or error")
	f.Var(&s.LogFormat, "log-format", "format of the log: text or json")
}

// bindTracker registers the flags of a tracker.
func bindTracker(f *pflag.FlagSet, s *settings) {
	bindData(f, s, trackerData)
	bindServer(f, s)
}

// bindNode registers the flags of a node.
func bindNode(f *pflag.FlagSet, s *settings) {
	bindClient(f, s)
	bindServer(f, s)
	f.Var(&s.Reader, "reader", "address at which feed readers reach this node")
	f.Var(&list[ownNameRule]{items: &s.ReaderHost}, "reader-host",
		"host name under which feed readers reach this node, besides localhost and IP addresses (repeatable)")
	f.Var(&list[pushRule]{items: &s.ReaderPush}, "reader-push",
		"host:port of a program on this machine that may have new entries pushed to it (repeatable)")
	f.Var(&s.ReaderProxy, "reader-proxy",
		"what feed readers get that use this node as their HTTP proxy: off, known or subscribe")
	f.Var(&list[trackerRule]{items: &s.Tracker}, "tracker", "URL of a tracker to find neighbors with (repeatable)")
	f.Var(&list[peerRule]{items: &s.Peer}, "peer", "host:port of a node to have as a neighbor (repeatable)")
	f.Var(&list[wishRule]{items: &s.Subscribe}, "subscribe",
		"URL of a feed to follow, with public:, private: or discreet: in front if it is to be followed so (repeatable)")
	f.Var(&list[hostRule]{items: &s.PrivateHost}, "private-host",
		"host on a private address whose feeds may be polled; they never leave this node (repeatable)")
	f.Var(&s.Poll, "poll", "poll every feed at this fixed interval, a span such as 30m")
}

// Names of the data directories of owners who chose none.
const (
	nodeData    = "feedex"
	trackerData = "feedex-tracker"
)

// dataOr is the data directory, in the user's own place under that name where none was chosen.
func (s *settings) dataOr(name string) (string, error) {
	if s.Data == "" {
		return defaultData(name)
	}
	if path, ok := toHome(s.Data); ok {
		return path, nil
	}
	return "", errHomeless()
}

// defaultData is the data directory of a user who chose none; name is its last element.
func defaultData(name string) (string, error) {
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, name), nil
		}
	case "darwin":
		if home := os.Getenv("HOME"); home != "" {
			return filepath.Join(home, "Library", "Application Support", name), nil
		}
	default:
		if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, name), nil
		}
		if home := os.Getenv("HOME"); home != "" {
			return filepath.Join(home, ".local", "share", name), nil
		}
	}
	return "", errHomeless()
}

func errHomeless() error {
	return usageError{hintedError{fmt.Errorf("find a data directory: this user has no home directory"),
		"choose one with --data"}}
}

// usualConfig is where the config file is that is read where none is named, "" if there is no such place.
func usualConfig() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "feedex", "feedex.toml")
}

// defaultConfig is the config file that is read where none is named, "" if there is none.
func defaultConfig() string {
	path := usualConfig()
	if _, err := os.Stat(path); path == "" || os.IsNotExist(err) {
		return ""
	}
	return path
}

// toHome is the path that a person wrote with ~ for the home directory: what stands in a file, and behind --data=, no
// shell has read. It reports false where there is no home directory.
func toHome(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path, true
	}
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path, false
	}
	return filepath.Join(home, rest), true
}

// fromHome is a path as people write it, with ~ for the home directory.
func fromHome(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

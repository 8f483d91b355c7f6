package node

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"feedex/archive"
	"feedex/protocol"
)

// Paper Table 2.
func TestDefaultsAreThePapers(t *testing.T) {
	c, err := Config{Secret: make([]byte, 32)}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if c.MaxNeighbors != 10 || c.MinNeighbors != 8 || c.MaxSubsetHops != 3 || c.AdvertInterval != 300*time.Second || c.SeenDIDs != 1000 {
		t.Errorf("defaults are %+v", c)
	}
	if c.Port != protocol.DefaultPort {
		t.Errorf("default port is %d, the protocol's is %d", c.Port, protocol.DefaultPort)
	}
}

func TestSettingsOutOfRangeAreRefused(t *testing.T) {
	for name, c := range map[string]Config{
		"too many neighbors":       {MaxNeighbors: 65},
		"a negative maximum":       {MaxNeighbors: -1},
		"a minimum above":          {MaxNeighbors: 4, MinNeighbors: 5},
		"too many hops":            {MaxSubsetHops: 9},
		"adverts all the time":     {AdvertInterval: time.Millisecond},
		"too many cover feeds":     {CoverFeeds: 51},
		"fewer than no cover":      {CoverFeeds: -1},
		"a window without bound":   {SeenDIDs: 10_000_000},
		"a secret that is no such": {Secret: []byte("short")},
		"no secret":                {},
	} {
		if c.Secret == nil && name != "no secret" {
			c.Secret = make([]byte, 32)
		}
		if _, err := New(epoch, c, archive.NewMemory(), rand.New(rand.NewPCG(1, 2))); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

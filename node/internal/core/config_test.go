package core

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"feedex/archive"
	"feedex/incentive"
	"feedex/protocol"
)

// Paper Table 2.
func TestDefaultsAreThePapers(t *testing.T) {
	c, err := Config{Secret: make([]byte, 32)}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if c.MaxNeighbors != 10 || c.MinNeighbors != 8 || c.MaxSubsetHops != 3 || c.AdvertInterval != 300*time.Second ||
		c.SeenDIDs != 1000 {
		t.Errorf("defaults are %+v", c)
	}
	if c.Port != protocol.DefaultPort {
		t.Errorf("default port is %d, the protocol's is %d", c.Port, protocol.DefaultPort)
	}
}

func TestSettingsOutOfRangeAreRefused(t *testing.T) {
	secret := make([]byte, 32)
	for _, tt := range []struct {
		config Config
		want   string
	}{
		{Config{Secret: secret, MaxNeighbors: 65}, "max_neighbors is 65, want 1 to 64"},
		{Config{Secret: secret, MaxNeighbors: -1}, "max_neighbors is -1, want 1 to 64"},
		{Config{Secret: secret, MaxNeighbors: 4, MinNeighbors: 5}, "min_neighbors is 5, want 0 to max_neighbors (4)"},
		{Config{Secret: secret, MinNeighbors: -1}, "min_neighbors is -1, want 0 to max_neighbors (10)"},
		{Config{Secret: secret, MaxSubsetHops: 9}, "max_subset_hops is 9, want 1 to 8"},
		{Config{Secret: secret, MaxSubsetHops: -1}, "max_subset_hops is -1, want 1 to 8"},
		{Config{Secret: secret, MaxRelayed: -1}, "max_relayed is -1, want 1 to 10000"},
		{Config{Secret: secret, MaxRelayed: 10_001}, "max_relayed is 10001, want 1 to 10000"},
		{Config{Secret: secret, AdvertInterval: time.Millisecond}, "advert_interval is 1ms, want 1s to 24h"},
		{Config{Secret: secret, AdvertInterval: 25 * time.Hour}, "advert_interval is 25h0m0s, want 1s to 24h"},
		{Config{Secret: secret, Volunteer: 1001}, "volunteer is 1001, want 0 to 1000"},
		{Config{Secret: secret, Volunteer: -1}, "volunteer is -1, want 0 to 1000"},
		{Config{Secret: secret, SeenDIDs: 10_000_000}, "seen_dids is 10000000, want 1 to 1000000"},
		{Config{Secret: secret, SeenDIDs: -1}, "seen_dids is -1, want 1 to 1000000"},
		{Config{Secret: secret, Incentive: incentive.Config{Bound: 1001}},
			"deficit bound is 1001, want 1 to 1000 entries"},
		{Config{Secret: []byte("short")}, "secret is 5 bytes, want 16 or more"},
		{Config{}, "secret is 0 bytes, want 16 or more"},
	} {
		_, err := New(epoch, tt.config, archive.NewMemory(), rand.New(rand.NewPCG(1, 2)))
		if !errors.Is(err, ErrConfig) || !strings.HasSuffix(err.Error(), ": "+tt.want) {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}

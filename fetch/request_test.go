package fetch

import "testing"

// That a host of the public Internet lets nobody in is something else than that there is none.
func TestAPublicAddressWasTried(t *testing.T) {
	for address, want := range map[string]bool{
		"20.1.2.3:443":       true,
		"[2a00:1450::1]:443": true,
		"127.0.0.1:80":       false,
		"10.1.2.3:443":       false,
		"[fe80::1%eth0]:80":  false,
		"no address":         false,
	} {
		var v visit
		if v.connecting("tcp", address); v.dialed.Load() != want {
			t.Errorf("%s: %v, want %v", address, v.dialed.Load(), want)
		}
	}
}

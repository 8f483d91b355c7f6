package fetch

import "testing"

// A host of the public Internet that lets nobody in is something else than a host that is not there.
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

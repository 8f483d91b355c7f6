"""A DHT of eight sessions of libtorrent on loopback, until standard input ends. It prints "host:port" of one of them
once each knows others."""
import sys
import time

import libtorrent

SETTINGS = {
    "listen_interfaces": "127.0.0.1:0", "enable_dht": True, "dht_bootstrap_nodes": "",
    "enable_lsd": False, "enable_upnp": False, "enable_natpmp": False,
    # All nodes have one address, and a private one, here.
    "dht_restrict_routing_ips": False, "dht_restrict_search_ips": False, "dht_ignore_dark_internet": False,
    "dht_prefer_verified_node_ids": False, "dht_enforce_node_id": False,
}

sessions = [libtorrent.session(dict(SETTINGS)) for _ in range(8)]
while not all(s.is_listening() and s.listen_port() for s in sessions):
    time.sleep(.05)
while min(s.status().dht_nodes for s in sessions) < 2:
    for s in sessions:
        for other in sessions:
            if other is not s:
                s.add_dht_node(("127.0.0.1", other.listen_port()))
    time.sleep(.5)
print("127.0.0.1:%d" % sessions[0].listen_port(), flush=True)
sys.stdin.read()

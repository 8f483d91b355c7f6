"""Plays a neighbor of a feedex node with nothing but Python's standard library.

Written from docs/PROTOCOL.md alone, as anybody might write a neighbor of their own:
peer.py HOST:PORT FEED_URL [home]. A home listens nowhere: it is called over a reverse link.
peer.py "" FEED_URL named says where it listens, and waits for the node that is told of it.
Prints "ok" at the end; any other end is a failure.
"""

import base64
import hashlib
import http.client
import os
import queue
import socket
import sys
import threading
import xmlrpc.client
from socketserver import ThreadingMixIn
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer


def field(value):
    data = value if isinstance(value, bytes) else str(value).encode()
    return b"%d:%s" % (len(data), data)


def listed(items):
    return field(len(items)) + b"".join(field(item) for item in items)


def digest(entry):
    enclosures = entry.get("enclosures", [])
    return hashlib.sha1(
        field(entry.get("id", "")) + field(entry.get("title", "")) + field(entry.get("link", ""))
        + listed(entry.get("authors", []))
        + field(entry.get("published", "")) + field(entry.get("updated", ""))
        + field(entry.get("summary", "")) + field(entry.get("content", ""))
        + listed(entry.get("categories", []))
        + field(len(enclosures))
        + b"".join(field(e["url"]) + field(e["type"]) + field(e["length"]) for e in enclosures)
    ).digest()


def did(feed, entries):
    return hashlib.sha1(field(feed) + b"".join(field(d) for d in sorted(digest(e) for e in entries))).hexdigest()


def entry_id(feed, entry):
    return hashlib.sha1(field(feed) + field("id") + field(entry["id"])).hexdigest()


def bundle(feed, entries):
    return {"did": did(feed, entries), "feed": feed, "path": [], "entries": entries}


delivered = queue.Queue()
connected = queue.Queue()


class Neighbor:
    """The methods of the paper that a neighbor calls; the rest is unknown here."""

    def connect(self, nid, subset, *hint):
        connected.put(nid)
        return subset

    def check_did(self, nid, did, *hint):
        return "unseen"

    def put_entries(self, nid, bundle):
        delivered.put((nid, bundle))
        return "ok"

    def update_subset(self, nid, changes):
        return "ok"


class Handler(SimpleXMLRPCRequestHandler):
    rpc_paths = ("/RPC2",)
    protocol_version = "HTTP/1.1"


class Server(ThreadingMixIn, SimpleXMLRPCServer):
    daemon_threads = True


PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME)
BASE = (15112221349535400772501151409588531511454012693041857206046113283949847762202,
        4 * pow(5, -1, PRIME) % PRIME)


def added(a, b):
    (ax, ay), (bx, by) = a, b
    d = D * ax * bx * ay * by
    return (ax * by + bx * ay) * pow(1 + d, -1, PRIME) % PRIME, (ay * by + ax * bx) * pow(1 - d, -1, PRIME) % PRIME


def times_base(n):
    point, doubled = (0, 1), BASE
    while n:
        if n & 1:
            point = added(point, doubled)
        n, doubled = n >> 1, added(doubled, doubled)
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def sha512(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A key of Ed25519 (RFC 8032 section 5.1). Who measures how long it signs learns about it."""

    def __init__(self, seed):
        secret = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(secret[:32], "little") & 2**254 - 8 | 2**254
        self.prefix = secret[32:]
        self.public = times_base(self.scalar)

    def __str__(self):
        return "ed25519:" + base64url(self.public)

    def prove(self, words, challenge, verifier, dialled):
        text = "".join("%s\n" % line for line in (words, challenge, verifier, self, dialled)).encode()
        r = sha512(self.prefix, text) % ORDER
        start = times_base(r)
        s = (r + sha512(start, self.public, text) * self.scalar) % ORDER
        return base64url(start + s.to_bytes(32, "little"))


def reverse_link(address, key, token, server):
    """Has the node at the address call the server over a connection that is opened to it."""
    def vouch(nid, asked, hint):
        assert asked == token, asked
        proof = key.prove("feedex link 1", hint["challenge"], hint["key"], address)
        return {"dialled": address, "proof": proof}

    server.register_function(vouch, "feedex.vouch")
    link = http.client.HTTPConnection(address)
    link.request("POST", "/RPC2", headers={
        "Connection": "Upgrade", "Upgrade": "feedex-reverse/1", "Feedex-Key": str(key)})
    answer = link.getresponse()
    assert answer.status == 101, (answer.status, answer.read())
    proof = key.prove("feedex reverse 1", answer.headers["Feedex-Challenge"], answer.headers["Feedex-Key"], address)
    link.sock.sendall(("%s %s\n" % (address, proof)).encode())
    assert link.sock.recv(2, socket.MSG_WAITALL) == b"\r\n", "the proof is not believed, or there is no place"
    link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    server.process_request(link.sock, link.sock.getpeername())


def refused(code, call, *args):
    try:
        answer = call(*args)
    except xmlrpc.client.Fault as fault:
        assert fault.faultCode == code, fault
        return
    raise AssertionError("not refused: %r" % (answer,))


def main(address, feed, way="dialled"):
    home = way == "home"
    server = Server(("127.0.0.1", 0), requestHandler=Handler, logRequests=False, bind_and_activate=not home)
    server.register_instance(Neighbor())
    if home:
        key, token = Key(os.urandom(32)), base64url(os.urandom(16))
        reverse_link(address, key, token, server)
        nid, hint = 7790, [{"key": str(key), "challenge": base64url(os.urandom(32)), "reverse": True}]
        node = xmlrpc.client.ServerProxy("http://%s/RPC2" % address, headers=[("Feedex-Session", token)])
    else:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        nid, hint = server.server_address[1], []
        if way == "named":
            print("127.0.0.1:%d" % nid, flush=True)
            address = "127.0.0.1:%d" % connected.get(timeout=60)
        node = xmlrpc.client.ServerProxy("http://%s/RPC2" % address)

    methods = node.system.listMethods()
    for method in ("get_neighbors", "connect", "update_subset", "check_did", "put_entries", "query_feed"):
        assert method in methods, methods
        assert node.system.methodHelp(method)
        assert node.system.methodSignature(method)

    entry = {"id": "urn:peer:1", "title": "From Python <with> & markup", "published": 1790000000,
             "summary": "Grüße\tand a\nline", "authors": ["Ada"], "categories": ["one", "two"],
             "enclosures": [{"url": "https://example.com/1.mp3", "type": "audio/mpeg", "length": 5}]}
    mine = bundle(feed, [entry])

    if way != "named":
        refused(101, node.check_did, nid, mine["did"])  # a stranger
        refused(110, node.connect, nid, [], *hint)      # nothing to offer
        subset = node.connect(nid, [[feed, 0]], *hint)
        assert [feed, 0] in subset, subset

    assert node.check_did(nid, mine["did"], {"feed": feed}) == "unseen"
    assert node.put_entries(nid, mine) == "ok"
    assert node.check_did(nid, mine["did"]) == "seen"
    assert node.check_dids(nid, [mine["did"], "00" * 20]) == ["seen", "unseen"]

    refused(106, node.put_entries, nid, dict(mine, did="ab" * 20))
    refused(104, node.put_entries, nid, bundle("https://example.com/other", [entry]))
    refused(-32601, node.no_such_method, nid)
    refused(-32602, node.check_did, nid, "short")

    answer = node.query_feed(nid, {"feed": feed, "title": ["from python"]})
    assert [f["id"] for f in answer["found"]] == [entry_id(feed, entry)], answer
    assert not answer["partial"]

    # What the node fetched by itself is offered to its new neighbor, and delivered.
    sender, bundled = delivered.get(timeout=60)
    assert str(sender) == address.rsplit(":", 1)[1], sender
    assert bundled["feed"] == feed
    assert bundled["did"] == did(feed, bundled["entries"]), bundled
    assert [e["title"] for e in bundled["entries"]] == ["From the publisher"], bundled

    assert node.update_subset(nid, [[feed, -1]]) == "ok"
    node("close")()
    print("ok")


main(*sys.argv[1:])

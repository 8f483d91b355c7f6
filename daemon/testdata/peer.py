"""Plays a neighbor of a feedex node with nothing but Python's standard library.

Written from docs/PROTOCOL.md alone, as anybody might write a neighbor of their own:
peer.py HOST:PORT FEED_URL. Prints "ok" at the end; any other end is a failure.
"""

import hashlib
import queue
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


class Neighbor:
    """The methods of the paper that a neighbor calls; the rest is unknown here."""

    def check_did(self, nid, did, *hint):
        return "unseen"

    def put_entries(self, nid, bundle):
        delivered.put((nid, bundle))
        return "ok"

    def update_subset(self, nid, changes):
        return "ok"


class Handler(SimpleXMLRPCRequestHandler):
    rpc_paths = ("/RPC2",)


class Server(ThreadingMixIn, SimpleXMLRPCServer):
    daemon_threads = True


def refused(code, call, *args):
    try:
        answer = call(*args)
    except xmlrpc.client.Fault as fault:
        assert fault.faultCode == code, fault
        return
    raise AssertionError("not refused: %r" % (answer,))


def main(address, feed):
    server = Server(("127.0.0.1", 0), requestHandler=Handler, logRequests=False, allow_none=False)
    server.register_instance(Neighbor())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    nid = server.server_address[1]
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

    refused(101, node.check_did, nid, mine["did"])  # a stranger
    refused(110, node.connect, nid, [])             # nothing to offer
    subset = node.connect(nid, [[feed, 0]])
    assert [feed, 0] in subset, subset

    assert node.check_did(nid, mine["did"], {"feed": feed, "n": 1}) == "unseen"
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
    server.shutdown()
    print("ok")


main(*sys.argv[1:])

"""Reads XML-RPC calls with Python's xmlrpc.client and tells what it understood.

A frame is a length in four bytes, then as many bytes. For each frame on standard input, a call, two
are written: its parameters as JSON that names their types, and a response that carries them.
"""
import json
import struct
import sys
import xmlrpc.client as rpc


def large(marshaller, value, write):
    """Python writes no i8, though it reads it."""
    name = "int" if rpc.MININT <= value <= rpc.MAXINT else "i8"
    write("<value><%s>%d</%s></value>\n" % (name, value, name))


rpc.Marshaller.dispatch[int] = large


def tell(value):
    if isinstance(value, bool):
        return ["bool", value]
    if isinstance(value, int):
        return ["int", str(value)]
    if isinstance(value, float):
        return ["double", struct.pack(">d", value).hex()]
    if isinstance(value, str):
        return ["string", value]
    if isinstance(value, rpc.Binary):
        return ["bytes", value.data.hex()]
    if isinstance(value, rpc.DateTime):
        return ["time", value.value]
    if isinstance(value, list):
        return ["array", [tell(item) for item in value]]
    if isinstance(value, dict):
        return ["struct", [[name, tell(item)] for name, item in value.items()]]
    raise TypeError(type(value))


def put(data):
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)


while head := sys.stdin.buffer.read(4):
    body = sys.stdin.buffer.read(struct.unpack(">I", head)[0])
    params, method = rpc.loads(body)
    assert method == "m", method
    put(json.dumps([tell(param) for param in params]).encode())
    put(rpc.dumps((list(params),), methodresponse=True).encode())

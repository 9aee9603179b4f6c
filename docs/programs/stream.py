import sys

from boxretry import Client

with Client() as client, client.stream("GET", sys.argv[1]) as stream:
    print(stream.status, stream.headers["Content-Length"], "bytes")
    print(sum(len(piece) for piece in stream.iter_bytes()), "bytes read, piece by piece")

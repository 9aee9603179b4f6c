"""The fault server, part by part; ../fault_server.py starts it, ../README.md is its manual.

script, vocabulary    what a URL asks for: pure, and the same for every protocol
content, head         bodies and header lines
record                what was seen
connection            a socket: bytes in and out, waits, and exact endings
http1, http1_answer   HTTP/1.1: reads requests, carries answers out
http2, http2_stream   HTTP/2: a connection, and each of its streams
http2_output          what these send, in order
site                  what the protocols ask of the server
ports, certificates   kinds of ports: TLS with its faults, and ports that never answer
control               the paths under /_
server                holds all of them together
"""

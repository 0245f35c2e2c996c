"""Ports that a process listens on: each with its line, and no word of sockets that are no ports."""

from __future__ import annotations

PROGRAM = """\
import os, pickle, socket, socketserver
one = socket.socket()
one.bind(("127.0.0.1", 0))
one.listen()
assert socket.socket.listen.__name__ == "listen" and socket.socket.listen is type(one).listen
other = socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler)
path = socket.socket(socket.AF_UNIX)
path.bind("\\0ups-doctor-" + str(os.getpid()))
path.listen(1)
try:
    socket.socket().listen("much")
except TypeError as error:
    print(error)
print(one.getsockname()[1], other.server_address[1])
"""


def test_each_port_is_recorded_with_its_line_and_errors_stay_as_they_are(watch) -> None:
    done = watch(PROGRAM)
    bare = watch(PROGRAM, watched=False)
    assert done.stdout.splitlines()[0] == bare.stdout.splitlines()[0]
    (agent,) = done.record.agents
    told = [(event.text, event.path[-1].line) for event in agent.events if event.kind == "listen"]
    ports = done.stdout.split()[-2:]
    assert told == [(f"port={ports[0]}", 4), (f"port={ports[1]}", 6)]

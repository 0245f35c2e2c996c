"""Answers one doctor's questions about this host, one JSON object a line, until the line ends.

Standard library only, syntax of Python 3.8: it is sent to hosts on which nothing of the doctor is installed. It runs no
code that it is told, only the questions below; everything that it opened is closed when the doctor goes away.
"""

import json
import os
import signal
import socket
import sys
import time

import about_host
import folder_prints
import gloo_child
import peer_links

MARK = "ups-doctor-host:"  # what a login shell prints on the same stream does not begin so
LONGEST_LIFE_S = 1800  # whatever happens to the doctor


class Host:
    """What lives as long as the line: the listening socket that peers connect to."""

    def __init__(self, token):
        self.token = token
        self.listener = None

    def about(self, names, deadline_s):
        """Returns names, interfaces and versions of this host."""
        return about_host.facts(names, deadline_s)

    def clock(self):
        """Returns the time of day here."""
        return {"now_s": time.time()}

    def prints(self, folder, data, deadline_s):
        """Returns what tells this host's copy of the code and of the data from another's."""
        return folder_prints.prints(folder, data, deadline_s)

    def listen(self):
        """Begins to answer peers; returns the port."""
        if self.listener is None:
            self.listener = peer_links.Listener(self.token)
        return {"port": self.listener.port}

    def reach(self, peers, deadline_s):
        """Returns how it went to connect to each of these peers, all at the same time."""
        return {"peers": peer_links.reach(peers, self.token, deadline_s)}

    def speed(self, peer, seconds, deadline_s):
        """Returns bandwidth and latency to one peer."""
        return peer_links.speed(peer, self.token, seconds, deadline_s)

    def gloo(self, **asked):
        """Returns how one collective of torch's gloo over all hosts went, as a child of this process sees it."""
        return gloo_child.run(**asked)

    def free_port(self):
        """Returns a port that nobody listens on now, for the store of the gloo round."""
        with socket.socket() as probe:
            probe.bind(("", 0))
            return {"port": probe.getsockname()[1]}


QUESTIONS = ("about", "clock", "prints", "listen", "reach", "speed", "gloo", "free_port")


def serve(source, sink, token):
    """Answers until the source ends or says bye."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LONGEST_LIFE_S)
    host = Host(token)
    while True:
        line = source.readline()
        if not line:
            return
        asked = json.loads(line)
        if asked.get("op") == "bye":
            return
        sink.write((MARK + json.dumps(answered(host, asked)) + "\n").encode())
        sink.flush()


def answered(host, asked):
    """Returns one answer, or the error in its place: a question that fails must not end the line."""
    reply = {"id": asked.get("id")}
    try:
        if asked.get("op") not in QUESTIONS:
            raise ValueError("unknown question %r" % (asked.get("op"),))
        reply["answer"] = getattr(host, asked["op"])(**asked.get("with", {}))
    except Exception as error:
        reply["error"] = "%s: %s" % (type(error).__name__, error)
    return reply


def by_pipe(token):
    """Serves the doctor at the other end of stdin and stdout."""
    serve(sys.stdin.buffer, sys.stdout.buffer, token)
    leave()


def by_socket(address, port, token, name, number, within_s):
    """Serves the doctor on the first host; raises OSError where it cannot be reached in time."""
    until = time.monotonic() + within_s
    while True:
        try:
            line = socket.create_connection((address, port), timeout=max(1.0, min(5.0, until - time.monotonic())))
            break
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)  # the first host may start later than this one; there is nothing to wait on
    with line:
        line.settimeout(None)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        hello = {"token": token, "name": name, "number": number}
        line.sendall((MARK + json.dumps(hello) + "\n").encode())
        with line.makefile("rwb") as stream:
            serve(stream, stream, token)


def leave():
    """Ends at once: threads that wait for a peer that never answers hold nothing up."""
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    # Standard output is the launcher's: nothing of this goes there.
    by_socket(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]), float(sys.argv[6]))
    leave()

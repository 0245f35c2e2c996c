"""What connects two hosts: a listener that echoes and swallows, and the client that measures it.

Whoever connects says the token first; a connection that does not is closed. Small packets and a burst are told apart: a
path that loses large packets passes every ping and stops the first tensor.
"""

import contextlib
import errno
import hmac
import socket
import struct
import threading
import time

SMALL = 64  # bytes
BURST = 256 * 1024  # some hundred full packets: more than any first window
CHUNK = 1 << 20
PINGS = 5
IDLE_S = 20.0  # a session without a word is closed
RETRANSMITS_AT = 100  # offset of tcpi_total_retrans in Linux's struct tcp_info
SENT_AT = 136  # of tcpi_segs_out


class Listener:
    """Answers peers from a thread of its own until the process ends."""

    def __init__(self, token):
        self.token = token.encode()
        self.socket = listening_socket()
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                peer, address = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._session, args=(peer, plain(address[0])), daemon=True).start()

    def _session(self, peer, address):
        with peer, contextlib.suppress(OSError):  # a peer that goes away has its own report
            peer.settimeout(IDLE_S)
            if not hmac.compare_digest(exactly(peer, len(self.token)), self.token):
                return
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer.sendall(address.encode().ljust(SMALL))
            while True:
                asked = exactly(peer, SMALL)
                if asked[:1] == b"p":
                    peer.sendall(asked)
                elif asked[:1] == b"w":
                    peer.sendall(struct.pack("!Q", swallow(peer)))
                elif asked[:1] == b"r":
                    pour(peer, struct.unpack_from("!d", asked, 1)[0])
                else:
                    return


def listening_socket():
    """Returns a socket on a free port of every address, IPv6 too where there is any."""
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):
            return socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=512)
    return socket.create_server(("", 0), backlog=512)


def reach(peers, token, deadline_s):
    """Returns one row a peer; all are tried at the same time, and the call ends soon after the deadline."""
    rows = [{"name": peer["name"], "phase": "connect", "error": "timed out"} for peer in peers]
    threads = [
        threading.Thread(target=reach_one, args=(peer, token, deadline_s, row), daemon=True)
        for peer, row in zip(peers, rows)  # noqa: B905 - `strict` is of Python 3.10
    ]
    for thread in threads:
        thread.start()
    until = time.monotonic() + deadline_s + 1.0
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return [dict(row) for row in rows]


def reach_one(peer, token, deadline_s, row):
    """Fills in the row of one peer: the phase that was reached, and the error that ended it."""
    until = time.monotonic() + deadline_s
    try:
        with open_line(peer, token, until, row) as line:
            row["phase"] = "small"
            row["rtt_s"] = min(ping(line, until) for _ in range(PINGS))
            row["phase"] = "burst"
            remaining(line, until)
            line.sendall(b"w".ljust(SMALL) + struct.pack("!Q", BURST) + bytes(BURST) + struct.pack("!Q", 0))
            exactly(line, 8)
            line.sendall(b"r" + struct.pack("!d", 0.0).ljust(SMALL - 1))
            drain(line)
            row["again"], row["sent"] = retransmits(line)
            row["phase"], row["error"] = "done", ""
    except OSError as error:
        row["error"], row["errno"] = told(error), errno.errorcode.get(error.errno or 0, "")


def open_line(peer, token, until, row):
    """Returns a connection whose other end has accepted the token."""
    line = socket.create_connection((peer["address"], peer["port"]), timeout=max(0.1, until - time.monotonic()))
    try:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        row["phase"], row["from"] = "hello", plain(line.getsockname()[0])
        line.sendall(token.encode())
        row["seen_as"] = exactly(line, SMALL).decode("ascii", "replace").strip()
    except BaseException:
        line.close()
        raise
    return line


def speed(peer, token, seconds, deadline_s):
    """Returns bytes per second in both directions and the round trip of a small message."""
    row = {"name": peer["name"], "phase": "connect", "error": ""}
    until = time.monotonic() + deadline_s
    try:
        with open_line(peer, token, until, row) as line:
            row["phase"] = "small"
            trips = sorted(ping(line, until) for _ in range(4 * PINGS))
            row["rtt_s"] = trips[len(trips) // 2]
            row["phase"] = "out"
            remaining(line, until)
            began = time.monotonic()
            line.sendall(b"w".ljust(SMALL))
            pour(line, seconds)
            swallowed = struct.unpack("!Q", exactly(line, 8))[0]
            row["out_bytes_s"] = swallowed / max(time.monotonic() - began, 1e-9)
            row["phase"] = "in"
            began = time.monotonic()
            line.sendall(b"r" + struct.pack("!d", seconds).ljust(SMALL - 1))
            row["in_bytes_s"] = drain(line) / max(time.monotonic() - began, 1e-9)
            row["again"], row["sent"] = retransmits(line)
            row["phase"] = "done"
    except OSError as error:
        row["error"] = told(error)
    return row


def ping(line, until):
    """Returns the seconds of one small message there and back."""
    remaining(line, until)
    began = time.monotonic()
    line.sendall(b"p".ljust(SMALL))
    exactly(line, SMALL)
    return time.monotonic() - began


def pour(line, seconds):
    """Sends chunks, each behind its length, for that time and at least one; a length of 0 ends them."""
    until = time.monotonic() + seconds
    block = struct.pack("!Q", CHUNK) + bytes(CHUNK)
    while time.monotonic() < until:
        line.sendall(block)
    line.sendall(struct.pack("!Q", BURST) + bytes(BURST) + struct.pack("!Q", 0))


def swallow(line):
    """Reads chunks to their end and returns how many bytes they had."""
    total = 0
    while True:
        length = struct.unpack("!Q", exactly(line, 8))[0]
        if not length:
            return total
        for_each(line, length)
        total += length


drain = swallow


def for_each(line, length):
    """Reads and forgets that many bytes."""
    room = memoryview(bytearray(min(length, CHUNK)))
    while length:
        got = line.recv_into(room[: min(length, CHUNK)])
        if not got:
            raise ConnectionResetError(errno.ECONNRESET, "the peer closed the connection")
        length -= got


def exactly(line, length):
    """Returns that many bytes. Raises ConnectionResetError where the peer closes before."""
    parts = bytearray()
    while len(parts) < length:
        part = line.recv(length - len(parts))
        if not part:
            raise ConnectionResetError(errno.ECONNRESET, "the peer closed the connection")
        parts += part
    return bytes(parts)


def remaining(line, until):
    """Gives the line what is left of the time. Raises TimeoutError where nothing is."""
    left = until - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    line.settimeout(left)


def retransmits(line):
    """Returns how many segments were sent again and how many in all; 0, 0 where the kernel does not say."""
    try:
        info = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return struct.unpack_from("=I", info, RETRANSMITS_AT)[0], struct.unpack_from("=I", info, SENT_AT)[0]
    except (OSError, struct.error, AttributeError):
        return 0, 0


def plain(address):
    """Returns an IPv4 address that an IPv6 socket has seen as IPv4."""
    return address[7:] if address.startswith("::ffff:") else address


def told(error):
    """Returns an error of the network in the system's words."""
    return "timed out" if isinstance(error, socket.timeout) else error.strerror or str(error) or type(error).__name__

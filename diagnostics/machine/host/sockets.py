"""The sockets of one process, from /proc/PID/net of its own network namespace."""

from __future__ import annotations

import ipaddress
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_STATES = {
    "01": "established", "02": "syn-sent", "03": "syn-received", "04": "fin-wait-1", "05": "fin-wait-2",
    "06": "time-wait", "07": "close", "08": "close-wait", "09": "last-ack", "0A": "listen", "0B": "closing",
}  # fmt: skip
_RETRANSMITS = "01:"  # the timer that runs; another one asks whether the peer's buffer is still full
_INODE = re.compile(r"^socket:\[(\d+)\]$")
_MOST = 128
_MOST_TABLE_BYTES = 4 << 20  # of a machine with many thousand connections


@dataclass(frozen=True, slots=True, kw_only=True)
class Socket:
    """One TCP socket. Queues are bytes: sent and not acknowledged, received and not yet read by the process.

    `sent_again` counts how often the oldest of these bytes went out anew, each time after twice the wait: the other
    machine's kernel did not answer. That of a process which merely does not read does.
    """

    local: str
    remote: str
    state: str
    unacknowledged_bytes: int
    unread_bytes: int
    sent_again: int = 0


def sockets_of(pid: int, links: Sequence[str]) -> tuple[Socket, ...]:
    """Returns the TCP sockets among the open descriptors of `pid`; `links` is where these point."""
    inodes = {match[1] for link in links if (match := _INODE.match(link))}
    found = (one for table in ("tcp", "tcp6") for one in _table(Path(f"/proc/{pid}/net/{table}"), inodes))
    return tuple(sorted(found, key=lambda one: (one.local, one.remote)))[:_MOST]


def _table(path: Path, inodes: set[str]) -> Iterator[Socket]:
    if not inodes:
        return
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            lines = file.read(_MOST_TABLE_BYTES).splitlines()[1:]
    except OSError:
        return
    for line in lines:
        words = line.split()
        if len(words) > 9 and words[9] in inodes:
            sent, _, received = words[4].partition(":")
            yield Socket(
                local=_address(words[1]),
                remote=_address(words[2]),
                state=_STATES.get(words[3], words[3]),
                unacknowledged_bytes=int(sent, 16),
                unread_bytes=int(received, 16),
                sent_again=int(words[6], 16) if words[5].startswith(_RETRANSMITS) else 0,
            )


def _address(text: str) -> str:
    """Returns "127.0.0.1:29500" of the kernel's words in its own byte order."""
    address, _, port = text.partition(":")
    raw = bytes.fromhex(address)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    shown = ipaddress.ip_address(raw)
    mapped = getattr(shown, "ipv4_mapped", None)
    return f"{mapped or shown}:{int(port, 16)}" if shown.version == 4 or mapped else f"[{shown}]:{int(port, 16)}"

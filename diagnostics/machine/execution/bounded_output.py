"""Keeps the beginning and the end of a stream that may be endless."""

from __future__ import annotations

HEAD_BYTES = 64 << 10
TAIL_BYTES = 192 << 10


class HeadAndTail:
    """A bounded buffer: the first and the last bytes, and how many were left out between."""

    def __init__(self, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        """Takes the next bytes of the stream."""
        room = self._head_bytes - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        excess = len(self._tail) - self._tail_bytes
        if excess > self._tail_bytes:  # cut rarely, so that a flood costs no more than its reading
            self._cut(excess)

    def text(self) -> str:
        """Returns what was kept; undecodable bytes become replacement characters."""
        self._cut(len(self._tail) - self._tail_bytes)
        gap = f"\n... {self._left_out} bytes left out ...\n" if self._left_out else ""
        return self._head.decode(errors="replace") + gap + self._tail.decode(errors="replace")

    def _cut(self, excess: int) -> None:
        if excess > 0:
            del self._tail[:excess]
            self._left_out += excess


def last_lines(text: str, count: int = 5) -> str:
    """Returns the last lines that are not blank, joined by ' | ' for one-sentence messages."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines[-count:])

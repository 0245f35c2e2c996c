"""Waits until descriptors can be read, whatever their numbers are: select.select refuses those from 1024 on."""

from __future__ import annotations

import select
from collections.abc import Iterable

_LONGEST_MS = (1 << 31) - 1


def readable(fds: Iterable[int], longest_s: float) -> set[int]:
    """Returns those that can be read, or whose other side has gone; the empty set where none could in time."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return {fd for fd, _ in poll.poll(min(max(0.0, longest_s) * 1000, _LONGEST_MS))}

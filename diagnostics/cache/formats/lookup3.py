"""Bob Jenkins' checksum lookup3 (hashlittle), with which HDF5 guards its superblock and headers.

Source: http://burtleburtle.net/bob/c/lookup3.c, public domain. For short data only: it is plain Python.
"""

from __future__ import annotations

import struct

MASK = 0xFFFFFFFF
MIX = ((4, 0), (6, 1), (8, 2), (16, 0), (19, 1), (4, 2))
FINAL = (14, 11, 25, 16, 4, 14, 24)


def lookup3(data: bytes) -> int:
    """Returns the checksum of `data`, 32 bits."""
    state = [(0xDEADBEEF + len(data)) & MASK] * 3
    if not data:
        return state[2]
    words = struct.unpack(f"<{(len(data) + 11) // 12 * 3}L", data + b"\0" * (-len(data) % 12))
    for at in range(0, len(words), 3):
        state = [(value + word) & MASK for value, word in zip(state, words[at : at + 3], strict=True)]
        if at + 3 < len(words):
            _mix(state)
    return _final(state)


def _mix(state: list[int]) -> None:
    for shift, at in MIX:
        first, last = (at + 1) % 3, (at + 2) % 3
        state[at] = (state[at] - state[last]) & MASK ^ _rotated(state[last], shift)
        state[last] = (state[last] + state[first]) & MASK


def _final(state: list[int]) -> int:
    for step, shift in enumerate(FINAL):
        at, by = (2 + step) % 3, (1 + step) % 3
        state[at] = ((state[at] ^ state[by]) - _rotated(state[by], shift)) & MASK
    return state[2]


def _rotated(value: int, shift: int) -> int:
    return (value << shift | value >> (32 - shift)) & MASK

"""Writes messages of protocol buffers: varints, fixed numbers, and fields with a length. No schema is needed to write.

https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import struct

VARINT, FIXED64, LENGTH = 0, 1, 2


def varint(number: int) -> bytes:
    """Returns an unsigned number; a negative one as 64 bits of two's complement."""
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def number(field: int, value: int) -> bytes:
    """Returns an integer, enum or bool field."""
    return varint(field << 3 | VARINT) + varint(value)


def fixed64(field: int, value: int) -> bytes:
    """Returns a fixed64 field."""
    return varint(field << 3 | FIXED64) + struct.pack("<Q", value & (1 << 64) - 1)


def double(field: int, value: float) -> bytes:
    """Returns a double field."""
    return varint(field << 3 | FIXED64) + struct.pack("<d", value)


def text(field: int, value: str) -> bytes:
    """Returns a string field."""
    return message(field, value.encode("utf-8", "replace"))


def message(field: int, *parts: bytes) -> bytes:
    """Returns a field that holds a message or bytes."""
    body = b"".join(parts)
    return varint(field << 3 | LENGTH) + varint(len(body)) + body

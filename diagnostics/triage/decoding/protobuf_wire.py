"""Protobuf's wire format: field numbers and raw values, without a schema. Raises ValueError where bytes are none."""

from __future__ import annotations

import struct
from collections.abc import Iterator

Value = int | float | bytes
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yields (field number, value): an int of a varint, a float of fixed bits, bytes of all else."""
    at, end = 0, len(data)
    while at < end:
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = varint(data, at)
            yield number, value
        elif kind == BYTES:
            size, at = varint(data, at)
            if at + size > end:
                raise ValueError("a protobuf message is cut off")
            yield number, data[at : at + size]
            at += size
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
            if at + size > end:
                raise ValueError("a protobuf message is cut off")
            yield number, struct.unpack_from("<d" if kind == FIXED64 else "<f", data, at)[0]
            at += size
        else:
            raise ValueError(f"no protobuf message: wire type {kind}")


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns the number at a place and the place behind it."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("a protobuf number is cut off")


def signed(value: Value) -> int:
    """Returns a varint as the int32 or int64 that it stands for."""
    number = int(value)
    return number - (1 << 64) if number >= 1 << 63 else number


def first(data: bytes, number: int) -> Value | None:
    """Returns the first value of one field, None where it is absent."""
    return next((value for field, value in fields(data) if field == number), None)


def text(data: bytes, number: int) -> str:
    """Returns a text field, "" where it is absent."""
    value = first(data, number)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def timestamp(data: bytes) -> float:
    """Returns a google.protobuf.Timestamp in seconds since 1970."""
    found = dict(fields(data))
    return signed(found.get(1, 0)) + int(found.get(2, 0)) / 1e9

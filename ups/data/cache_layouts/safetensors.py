"""One .safetensors file for each array, holding one tensor: opened by every framework, mapped by us.

The format is a length, a JSON header and raw bytes (https://github.com/huggingface/safetensors); the library
is not needed, and its own reader copies where a map does not.
"""

from __future__ import annotations

import json
import struct
from functools import cache
from pathlib import Path

import numpy as np

from ups.data.cache_layouts.contract import Array, Held, Mapped, damaged, put, raw

NAME = "safetensors"
TYPES = {"float32": "F32", "float16": "F16"}
ALIGNMENT = 64  # the format allows spaces behind the header; a row that begins on a cache line copies faster


def files(array: Array) -> dict[str, int]:
    """Returns the one file."""
    return {_file(array): len(_header(array)) + array.shape[0] * array.sample_bytes}


def holds(array: Array) -> dict[str, Held]:
    """Returns the one file: all samples behind its header."""
    return {_file(array): Held(0, array.shape[0], _header(array))}


def begin(folder: Path, array: Array) -> None:
    """Writes length and header."""
    put(folder / _file(array), 0, _header(array))


def write(folder: Path, array: Array, position: int, values_TSD: np.ndarray) -> None:
    """Puts one sample in its place."""
    put(folder / _file(array), len(_header(array)) + position * array.sample_bytes, raw(array, values_TSD))


def open(folder: Path, array: Array) -> Mapped:  # noqa: A001 - the contract's name
    """Returns the mapped array; a header that is not the one written here is refused, not interpreted."""
    path, header = folder / _file(array), _header(array)
    try:
        with path.open("rb") as file:
            found = file.read(len(header))
        if found != header:
            raise damaged(path, f"its header is not that of {array.dtype}{array.shape}")
        return Mapped(np.memmap(path, array.dtype, "r", len(header), array.shape))
    except (OSError, ValueError) as error:
        raise damaged(path, error) from error


def _file(array: Array) -> str:
    return f"{array.name}.safetensors"


@cache
def _header(array: Array) -> bytes:
    size = array.shape[0] * array.sample_bytes
    entry = {"dtype": TYPES[array.dtype], "shape": list(array.shape), "data_offsets": [0, size]}
    text = json.dumps({array.name: entry}).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text

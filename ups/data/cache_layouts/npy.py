"""One memory-mapped .npy file for each array: numpy opens it anywhere, and a row is one place in it."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import numpy as np

from ups.data.cache_layouts.contract import Array, Held, Mapped, damaged, put, raw

NAME = "npy"


def files(array: Array) -> dict[str, int]:
    """Returns the one file."""
    return {_file(array): len(_header(array)) + array.shape[0] * array.sample_bytes}


def holds(array: Array) -> dict[str, Held]:
    """Returns the one file: all samples behind its header."""
    return {_file(array): Held(0, array.shape[0], _header(array))}


def begin(folder: Path, array: Array) -> None:
    """Writes the header."""
    put(folder / _file(array), 0, _header(array))


def write(folder: Path, array: Array, position: int, values_TSD: np.ndarray) -> None:
    """Puts one sample in its place."""
    put(folder / _file(array), len(_header(array)) + position * array.sample_bytes, raw(array, values_TSD))


def open(folder: Path, array: Array) -> Mapped:  # noqa: A001 - the contract's name
    """Returns the mapped array."""
    path = folder / _file(array)
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise damaged(path, error) from error
    if (mapped.shape, mapped.dtype.name) != (array.shape, array.dtype):
        raise damaged(path, f"{mapped.dtype.name}{mapped.shape}, not {array.dtype}{array.shape}")
    return Mapped(mapped)


def _file(array: Array) -> str:
    return f"{array.name}.npy"


@cache
def _header(array: Array) -> bytes:
    kind = {"descr": np.dtype(array.dtype).str, "fortran_order": False, "shape": array.shape}
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, kind)
    return buffer.getvalue()

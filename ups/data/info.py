"""What is in a data file, without reading more of it than asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ups.data import hdf5

# Values looked at for range and NaN unless everything is asked for: 64 MiB of float32.
LOOKED_AT = 1 << 24


def describe(path: Path, *, full: bool = False) -> dict[str, Any]:
    """Returns the file's size, attributes and datasets, JSON-able.

    Each dataset has shape, dtype, chunks, bytes, range, and how many of its values were looked at and
    were not finite. Reads at most LOOKED_AT values of a dataset, its first samples, unless `full`.
    """
    with hdf5.reading(path) as file:
        datasets = {name: _dataset(item, full) for name, item in sorted(file.items()) if hasattr(item, "shape")}
        attributes = {name: _plain(value) for name, value in sorted(file.attrs.items())}
    return {"path": str(path), "bytes": path.stat().st_size, "attributes": attributes, "datasets": datasets}


def _dataset(item: Any, full: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "shape": list(item.shape),
        "dtype": str(item.dtype),
        "chunks": list(item.chunks) if item.chunks else None,
        "memory_bytes": int(item.size) * item.dtype.itemsize,
    }
    if item.dtype.kind != "f" or not item.size:
        return facts | {"looked_at": 0}
    rows = item.shape[0] if item.shape else 1
    width = item.size // rows
    last = rows if full else min(rows, max(1, LOOKED_AT // width))
    return facts | _range(item, last, max(1, LOOKED_AT // width // 8))


def _range(item: Any, last: int, step: int) -> dict[str, Any]:
    low, high, looked_at, bad, first_bad = np.inf, -np.inf, 0, 0, None
    for start in range(0, last, step):
        block = np.asarray(item[start : min(start + step, last)]) if item.shape else np.asarray(item[()])[None]
        finite = np.isfinite(block)
        looked_at += block.size
        if not finite.all():
            bad += int((~finite).sum())
            place = np.argwhere(~finite)[0]
            first_bad = first_bad or [int(start + place[0]), *map(int, place[1:])]
        if finite.any():
            low, high = min(low, float(block[finite].min())), max(high, float(block[finite].max()))
    known = looked_at > bad
    return {
        "looked_at": looked_at,
        "min": low if known else None,
        "max": high if known else None,
        "not_finite": bad,
        "first_not_finite": first_bad,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.tolist() if hasattr(value, "tolist") else value

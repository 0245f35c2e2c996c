"""Packed shards of raw samples with an index: files of at most 64 MiB, which are copied and checked one by one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from ups.data.cache_layouts.contract import Array, Held, damaged, put, raw

NAME = "shards"
SHARD_BYTES = 64 << 20


def files(array: Array) -> dict[str, int]:
    """Returns the index and the shards, the last of which may be smaller."""
    shards = {file: samples * array.sample_bytes for file, samples in _shards(array)}
    return {_index_file(array): len(_index(array)), **shards}


def holds(array: Array) -> dict[str, Held]:
    """Returns the samples of each shard; the index holds none."""
    held, first = {_index_file(array): Held(0, 0, _index(array))}, 0
    for file, samples in _shards(array):
        held[file] = Held(first, first + samples, b"")
        first += samples
    return held


def begin(folder: Path, array: Array) -> None:
    """Writes the index."""
    put(folder / _index_file(array), 0, _index(array))


def write(folder: Path, array: Array, position: int, values_TSD: np.ndarray) -> None:
    """Puts one sample in its place."""
    shard, inside = divmod(position, _each(array))
    put(folder / _shards(array)[shard][0], inside * array.sample_bytes, raw(array, values_TSD))


def open(folder: Path, array: Array) -> Shards:  # noqa: A001 - the contract's name
    """Returns the shards that the index names, each mapped when it is first read."""
    path = folder / _index_file(array)
    try:
        index = json.loads(path.read_text(encoding="ascii"))
        shards = [(str(file), int(samples)) for file, samples in index["shards"]]
        if sum(samples for _, samples in shards) != array.shape[0] or any("/" in file for file, _ in shards):
            raise ValueError(f"its shards do not hold {array.shape[0]} samples")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from error
    return Shards(folder, array, shards)


class Shards:
    """The mapped shards of one array."""

    def __init__(self, folder: Path, array: Array, shards: list[tuple[str, int]]) -> None:
        self._folder, self._array, self._shards = folder, array, shards
        self._ends = np.cumsum([samples for _, samples in shards])
        self._mapped: dict[int, np.ndarray] = {}

    def take(self, position_B: np.ndarray, frame_KB: np.ndarray) -> torch.Tensor:
        """Returns a batch, copied row by row out of the shards that it touches."""
        out = np.empty((*frame_KB.shape, *self._array.shape[2:]), self._array.dtype)
        for item, shard in enumerate(np.searchsorted(self._ends, position_B, side="right").tolist()):
            sample = self._map(shard)[position_B[item] - self._ends[shard] + self._shards[shard][1]]
            for k, frame in enumerate(frame_KB[:, item]):
                out[k, item] = sample[frame]
        return torch.from_numpy(out)

    def _map(self, shard: int) -> np.ndarray:
        if shard not in self._mapped:
            file, samples = self._shards[shard]
            path, shape = self._folder / file, (samples, *self._array.sample_shape)
            try:
                self._mapped[shard] = np.memmap(path, self._array.dtype, "r", 0, shape)
            except (OSError, ValueError) as error:
                raise damaged(path, error) from error
        return self._mapped[shard]


def _each(array: Array) -> int:
    return max(1, SHARD_BYTES // max(1, array.sample_bytes))


def _shards(array: Array) -> list[tuple[str, int]]:
    count, each = array.shape[0], _each(array)
    return [(f"{array.name}_{first // each:05d}.shard", min(each, count - first)) for first in range(0, count, each)]


def _index(array: Array) -> bytes:
    content = {"dtype": array.dtype, "sample": list(array.sample_shape), "shards": _shards(array)}
    return (json.dumps(content) + "\n").encode()


def _index_file(array: Array) -> str:
    return f"{array.name}.index.json"

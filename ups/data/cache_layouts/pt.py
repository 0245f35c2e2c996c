"""One .pt file a sample, as torch.save writes it: what most projects start with, and the slowest to read.

Read with `weights_only` and as a map; a tensor that says it lies on a device is refused.
"""

from __future__ import annotations

import io
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import torch

from ups.data.cache_layouts.contract import Array, Held, damaged, put, raw
from ups.data.torch_reason import torch_reason

NAME = "pt"
KEY = "latents"


def files(array: Array) -> dict[str, int]:
    """Returns one file a sample, all of the same size: torch writes equal shapes to equal lengths."""
    size = _empty_size(array.sample_shape, array.dtype)
    return {_file(array, position): size for position in range(array.shape[0])}


def holds(array: Array) -> dict[str, Held]:
    """Returns one sample a file, in torch's archive."""
    return {file: Held(number, number + 1, None) for number, file in enumerate(files(array))}


def begin(folder: Path, array: Array) -> None:
    """Does nothing: no file is shared by samples."""


def write(folder: Path, array: Array, position: int, values_TSD: np.ndarray) -> None:
    """Writes one sample over the room that was made for it."""
    values = np.frombuffer(raw(array, values_TSD), array.dtype).reshape(array.sample_shape)
    put(folder / _file(array, position), 0, _saved(torch.from_numpy(values.copy())))


def open(folder: Path, array: Array) -> Files:  # noqa: A001 - the contract's name
    """Returns the files, each of which is opened when it is read: no process can keep 100,000 of them mapped."""
    return Files(folder, array)


class Files:
    """The files of one array."""

    def __init__(self, folder: Path, array: Array) -> None:
        self._folder, self._array = folder, array

    def take(self, position_B: np.ndarray, frame_KB: np.ndarray) -> torch.Tensor:
        """Returns a batch; each item costs the opening of one file."""
        out = torch.empty((*frame_KB.shape, *self._array.shape[2:]), dtype=getattr(torch, self._array.dtype))
        for item, position in enumerate(position_B):
            latents_TSD = self._load(self._folder / _file(self._array, int(position)))
            for k, frame in enumerate(frame_KB[:, item]):
                out[k, item] = latents_TSD[int(frame)]
        return out

    def _load(self, path: Path) -> torch.Tensor:
        try:
            latents: torch.Tensor = torch.load(path, weights_only=True, mmap=True)[KEY]
            found = (str(latents.dtype).removeprefix("torch."), tuple(latents.shape), latents.device.type)
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError, pickle.UnpicklingError) as error:
            raise damaged(path, torch_reason(error, path)) from error
        if found != (self._array.dtype, self._array.sample_shape, "cpu"):
            dtype, shape, device = found
            raise damaged(path, f"{dtype}{shape} on {device}, not {self._array.dtype}{self._array.sample_shape} on cpu")
        return latents


def _file(array: Array, position: int) -> str:
    return f"{array.name}_{position:05d}.pt"


def _saved(latents: torch.Tensor) -> bytes:
    buffer = io.BytesIO()
    torch.save({KEY: latents}, buffer)
    return buffer.getvalue()


@cache
def _empty_size(shape: tuple[int, ...], dtype: str) -> int:
    return len(_saved(torch.zeros(shape, dtype=getattr(torch, dtype))))

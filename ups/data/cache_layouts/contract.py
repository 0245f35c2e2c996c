"""What a layout of the latent cache must offer: files of known size, written sample by sample, read by batches.

Shapes: N samples, T frames, S tokens, D latent channels, B items of a batch, K frames of one item.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from ups.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """One field of one split, such as train_u."""

    name: str
    shape: tuple[int, ...]  # (N, T, S, D)
    dtype: str

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """(T, S, D)."""
        return self.shape[1:]

    @property
    def sample_bytes(self) -> int:
        """The bytes of all frames of one sample."""
        return math.prod(self.sample_shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Held:
    """What one file holds: `head`, then the samples from `first` to before `stop`, raw.

    Without a head, None, the file is one piece: nothing can be read of it once it is cut.
    """

    first: int
    stop: int
    head: bytes | None


class Source(Protocol):
    """An open array."""

    def take(self, position_B: np.ndarray, frame_KB: np.ndarray) -> torch.Tensor:
        """Returns the latents of K frames of B samples, (K, B, S, D), contiguous. Raises DataError."""
        ...


class Layout(Protocol):
    """One way to put arrays into files; a module of this package."""

    NAME: str

    def files(self, array: Array) -> dict[str, int]:
        """Returns the files of an array with the exact bytes of each; they are made in full size beforehand."""
        ...

    def holds(self, array: Array) -> dict[str, Held]:
        """Returns which samples lie in which of the files: what is lost with a file that is cut."""
        ...

    def begin(self, folder: Path, array: Array) -> None:
        """Writes what belongs to no single sample, headers and indices; once, before any `write`."""
        ...

    def write(self, folder: Path, array: Array, position: int, values_TSD: np.ndarray) -> None:
        """Puts one sample in its place; processes may write different samples at the same time."""
        ...

    def open(self, folder: Path, array: Array) -> Source:
        """Returns the array to read from. Raises DataError where a file is not what the array says."""
        ...


class Mapped:
    """An array that lies in one memory-mapped piece: workers share its pages in the page cache."""

    def __init__(self, mapped_NTSD: np.ndarray) -> None:
        self._frames, self._frame_shape = mapped_NTSD.shape[1], mapped_NTSD.shape[2:]
        self._rows = mapped_NTSD.reshape(mapped_NTSD.shape[0] * self._frames, -1)

    def take(self, position_B: np.ndarray, frame_KB: np.ndarray) -> torch.Tensor:
        """Returns a batch by one copy out of the page cache."""
        row_KB = position_B * self._frames + frame_KB
        out = np.empty((row_KB.size, self._rows.shape[1]), self._rows.dtype)
        if row_KB.min() < 0 or row_KB.max() >= len(self._rows):
            raise IndexError(f"frame {row_KB.min()} to {row_KB.max()} of {len(self._rows)}")
        # "clip" clips nothing here; with numpy's default mode, `out` would be filled by way of a second copy.
        np.take(self._rows, row_KB.ravel(), axis=0, out=out, mode="clip")
        return torch.from_numpy(out.reshape(*row_KB.shape, *self._frame_shape))


def put(path: Path, offset: int, content: bytes | memoryview) -> None:
    """Writes into a file that has its size already."""
    with path.open("r+b", buffering=0) as file:
        file.seek(offset)
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]


def raw(array: Array, values_TSD: np.ndarray) -> memoryview:
    """Returns the bytes of one sample as they lie in a file."""
    if values_TSD.shape != array.sample_shape:
        raise ValueError(f"a sample of {array.name} is {array.sample_shape}, not {values_TSD.shape}")
    return np.ascontiguousarray(values_TSD, dtype=array.dtype).data.cast("B")


def damaged(path: Path, reason: object) -> DataError:
    """Returns the error for a file that is not what the manifest says."""
    return DataError(f"the latent cache is damaged: {path}: {reason}", hint="ups cache build CONFIG --rebuild")

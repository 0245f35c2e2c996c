"""Mean and standard deviation of the training samples, in which all three splits are normalised."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ups.data.reader import FieldReader
from ups.errors import DataError, from_os_error

if TYPE_CHECKING:
    import torch

Array = TypeVar("Array", np.ndarray, "torch.Tensor")

# Values held at once while statistics are gathered: 4 MiB of float32.
BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalisation:
    """By field name, the mean and the standard deviation of each channel, (C,) each."""

    mean: dict[str, tuple[float, ...]]
    std: dict[str, tuple[float, ...]]

    def normalise(self, name: str, u: Array) -> Array:
        """Returns (u - mean) / std of field `name`; `u` is (..., C), numpy or torch, dtype kept."""
        mean, std = _like(u, self.mean[name]), _like(u, self.std[name])
        return (u - mean) / std  # type: ignore[no-any-return]

    def denormalise(self, name: str, u: Array) -> Array:
        """Returns u * std + mean of field `name`: back to physical units."""
        mean, std = _like(u, self.mean[name]), _like(u, self.std[name])
        return u * std + mean  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain lists and numbers: JSON-able, and safe in a checkpoint."""
        return {
            "mean": {name: list(values) for name, values in self.mean.items()},
            "std": {name: list(values) for name, values in self.std.items()},
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Normalisation:
        """Returns the normalisation that `to_dict` wrote."""
        return cls(
            mean={name: tuple(values) for name, values in plain["mean"].items()},
            std={name: tuple(values) for name, values in plain["std"].items()},
        )

    def digest(self) -> str:
        """Returns 16 hex digits that change with any of the numbers."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def save(self, path: Path, data: Mapping[str, int] = {}) -> None:
        """Writes the numbers as JSON, exactly: reading gives the same floats. `data`: what their file looked like."""
        plain = self.to_dict() | ({"data": dict(data)} if data else {})
        try:
            path.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise from_os_error(error, action="cannot write the normalisation", path=path) from error

    @classmethod
    def load(cls, path: Path) -> Normalisation:
        """Returns what `save` wrote. Raises DataError for anything else."""
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise from_os_error(error, action="cannot read the normalisation", path=path) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{path} does not hold a normalisation: {error!r}") from error


def from_training_split(reader: FieldReader, samples: np.ndarray) -> Normalisation:
    """Returns mean and standard deviation of every field over `samples`, frames and cells.

    Streams: one block of frames is in memory at a time, the sums are float64. Raises DataError for a
    value that is not finite, and for a field that has one single value, which cannot be scaled.
    """
    moments = {name: _Moments() for name in reader.spec.fields}
    for sample in samples:
        for name, block in _blocks(reader, int(sample)):
            moments[name].add(block)
    for name, found in moments.items():
        if not (found.std > 0).all():
            raise DataError(
                f"{reader.spec.path}: field '{name}' has the single value {found.mean.tolist()} in training",
                hint="there is nothing to learn from it; look inside: ups data info",
            )
    return Normalisation(
        mean={name: tuple(found.mean.tolist()) for name, found in moments.items()},
        std={name: tuple(found.std.tolist()) for name, found in moments.items()},
    )


def _blocks(reader: FieldReader, sample: int) -> Iterator[tuple[str, np.ndarray]]:
    spec = reader.spec
    if spec.kind == "steady":
        for name in spec.fields:
            yield name, reader.field(sample, name)
        return
    step = max(1, BLOCK_VALUES // int(np.prod(spec.grid)))
    for start in range(0, spec.frames, step):
        yield "u", reader.frames(sample, start, min(start + step, spec.frames))


class _Moments:
    """Count, mean and sum of squared deviations by channel, merged block by block (Chan et al. 1979)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = np.zeros(0)
        self._squares = np.zeros(0)

    def add(self, block: np.ndarray) -> None:
        rows = block.reshape(-1, block.shape[-1]).astype(np.float64)
        count, mean = len(rows), rows.mean(axis=0)
        squares = ((rows - mean) ** 2).sum(axis=0)
        if not self.count:
            self.count, self.mean, self._squares = count, mean, squares
            return
        total, shift = self.count + count, mean - self.mean
        self._squares = self._squares + squares + shift**2 * (self.count * count / total)
        self.mean = self.mean + shift * (count / total)
        self.count = total

    @property
    def std(self) -> np.ndarray:
        return np.sqrt(self._squares / self.count)


def _like(u: Any, values: tuple[float, ...]) -> Any:
    if len(values) == 1:
        return values[0]  # a plain number keeps the dtype and costs no copy to a GPU
    if isinstance(u, np.ndarray):
        return np.asarray(values, dtype=u.dtype)
    return u.new_tensor(values)

"""Torch datasets over one data file: normalised, float32, channels last, read item by item.

Shapes: X grid axes, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from ups.data.normalisation import Normalisation
from ups.data.reader import FieldReader
from ups.errors import DataError


class FrameDataset(Dataset[dict[str, Any]]):
    """Every frame of every field, sample by sample: {"u": (*grid, C), "field": int}.

    Order: sample, then frame (trajectories) or field `a`, `u` (steady problems).
    """

    def __init__(self, reader: FieldReader, samples: np.ndarray, normalisation: Normalisation) -> None:
        self.reader, self.samples, self.normalisation = reader, np.asarray(samples), normalisation
        self._each = reader.spec.frames * len(reader.spec.fields)

    def __len__(self) -> int:
        return len(self.samples) * self._each

    def __getitem__(self, index: int) -> dict[str, Any]:
        position, inner = _place(index, len(self), self._each)
        sample = int(self.samples[position])
        if self.reader.spec.kind == "steady":
            name = self.reader.spec.fields[inner]
            return {"u": self._tensor(name, self.reader.field(sample, name)), "field": inner}
        return {"u": self._tensor("u", self.reader.frames(sample, inner, inner + 1)[0]), "field": 0}

    def _tensor(self, name: str, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(self.normalisation.normalise(name, values))


class PairDataset(Dataset[dict[str, Any]]):
    """What the operator maps to what: {"u_in", "u_out": (*grid, C), "cond": (3,), "sample", "frame"}.

    Trajectories: one frame to the next, item by sample, then frame; cond = (lead time, time of the
    input frame, log10 of the parameter's size). Steady problems: a to u, one item a sample; cond = (0, 0, log10).
    `sample` and `frame` count in the file, after the time stride.
    """

    def __init__(self, reader: FieldReader, samples: np.ndarray, normalisation: Normalisation) -> None:
        spec = reader.spec
        if spec.kind == "trajectory" and spec.frames < 2:
            raise DataError(
                f"{spec.path} has one frame with time stride {spec.time_stride}: a step needs two",
                hint="lower data.time_stride",
            )
        self.reader, self.samples, self.normalisation = reader, np.asarray(samples), normalisation
        self._each = max(1, spec.frames - 1)
        self._log_parameter = float(np.log10(max(abs(spec.parameter), 1e-30)))

    def __len__(self) -> int:
        return len(self.samples) * self._each

    def __getitem__(self, index: int) -> dict[str, Any]:
        position, frame = _place(index, len(self), self._each)
        sample = int(self.samples[position])
        u_in, u_out, cond = self._steady(sample) if self.reader.spec.kind == "steady" else self._step(sample, frame)
        return {
            "u_in": torch.from_numpy(u_in),
            "u_out": torch.from_numpy(u_out),
            "cond": torch.tensor(cond, dtype=torch.float32),
            "sample": sample,
            "frame": frame,
        }

    def _step(self, sample: int, frame: int) -> tuple[np.ndarray, np.ndarray, tuple[float, float, float]]:
        pair = self.normalisation.normalise("u", self.reader.frames(sample, frame, frame + 2))
        now, then = self.reader.spec.times[frame : frame + 2]
        return pair[0], pair[1], (float(then - now), float(now), self._log_parameter)

    def _steady(self, sample: int) -> tuple[np.ndarray, np.ndarray, tuple[float, float, float]]:
        a = self.normalisation.normalise("a", self.reader.field(sample, "a"))
        u = self.normalisation.normalise("u", self.reader.field(sample, "u"))
        return a, u, (0.0, 0.0, self._log_parameter)


def _place(index: int, length: int, each: int) -> tuple[int, int]:
    if not -length <= index < length:
        raise IndexError(f"item {index} of {length}")
    return divmod(index % length, each)

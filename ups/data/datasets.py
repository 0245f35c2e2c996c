"""Torch datasets over one data file: normalised, float32, channels last, read item by item.

Shapes: X grid axes, C channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from ups.data.normalisation import Normalisation
from ups.data.pairing import Pairing
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

    Trajectories: pairs of frames, item by sample, then as `pairing` has them (one frame to the next); cond = (lead
    time, time of the input frame, log10 of the parameter's size). Steady problems: a to u, one item a sample; cond =
    (0, 0, log10). A pairing with R steps ahead adds {"u_later": (R, *grid, C), "cond_later": (R, 3), "known": (R,)}.
    `sample` and `frame` count in the file, after the time stride.
    """

    def __init__(
        self, reader: FieldReader, samples: np.ndarray, normalisation: Normalisation, pairing: Pairing | None = None
    ) -> None:
        spec = reader.spec
        if spec.kind == "trajectory" and spec.frames < 2:
            raise DataError(
                f"{spec.path} has one frame with time stride {spec.time_stride}: a step needs two",
                hint="lower data.time_stride",
            )
        self.reader, self.samples, self.normalisation = reader, np.asarray(samples), normalisation
        self.pairing = pairing or Pairing(spec.frames)
        self._log_parameter = float(np.log10(max(abs(spec.parameter), 1e-30)))

    def __len__(self) -> int:
        return len(self.samples) * len(self.pairing)

    def __getitem__(self, index: int) -> dict[str, Any]:
        position, inner = _place(index, len(self), len(self.pairing))
        sample = int(self.samples[position])
        if self.reader.spec.kind == "steady":
            return {**self._steady(sample), "sample": sample, "frame": 0}
        return {**self._steps(sample, inner), "sample": sample, "frame": int(self.pairing.start_N[inner])}

    def _steps(self, sample: int, inner: int) -> dict[str, torch.Tensor]:
        item = np.array([inner])
        places = self.pairing.places(item)[0]
        frames = self.reader.frames(sample, int(places[0]), int(places.max()) + 1)
        u = torch.from_numpy(self.normalisation.normalise("u", frames[places - places[0]]))
        cond = torch.from_numpy(self.pairing.conditions(self.reader.spec.times, self._log_parameter, item)[0])
        found = {"u_in": u[0], "u_out": u[1], "cond": cond[0]}
        if self.pairing.ahead:
            known = torch.from_numpy(self.pairing.known(item)[0])
            found |= {"u_later": u[2:], "cond_later": cond[1:], "known": known}
        return found

    def _steady(self, sample: int) -> dict[str, torch.Tensor]:
        a, u = (torch.from_numpy(self.normalisation.normalise(name, self.reader.field(sample, name))) for name in "au")
        return {"u_in": a, "u_out": u, "cond": torch.tensor([0.0, 0.0, self._log_parameter])}


def _place(index: int, length: int, each: int) -> tuple[int, int]:
    if not -length <= index < length:
        raise IndexError(f"item {index} of {length}")
    return divmod(index % length, each)

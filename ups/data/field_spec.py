"""FieldSpec: one data file as its header describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ups.data.pde.equations import Kind, equation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FieldSpec:
    """One data file as training sees it: after strides and the limit on samples."""

    path: Path
    task: str
    kind: Kind
    samples: int
    frames: int  # 1 for steady problems
    grid: tuple[int, ...]  # cells along each axis
    channels: int = 1
    coordinates: tuple[np.ndarray, ...]  # cell centres, one array an axis
    times: np.ndarray  # (frames,), PDE time units; [0] for steady problems
    periodic: bool
    parameters: dict[str, float] = field(default_factory=dict)  # PDEBench's name -> value
    time_stride: int = 1
    space_stride: int = 1

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields: ("u",) for trajectories, ("a", "u") for steady problems."""
        return ("u",) if self.kind == "trajectory" else ("a", "u")

    @property
    def parameter(self) -> float:
        """The equation's parameter: advection speed, viscosity or forcing."""
        return self.parameters[equation(self.task).PARAMETER]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain lists, numbers and strings: JSON-able, and safe in a checkpoint."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {
            "path": str(self.path),
            "grid": list(self.grid),
            "coordinates": [axis.tolist() for axis in self.coordinates],
            "times": self.times.tolist(),
            "parameters": dict(self.parameters),
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> FieldSpec:
        """Returns the spec that `to_dict` wrote."""
        arrays = {
            "path": Path(plain["path"]),
            "grid": tuple(plain["grid"]),
            "coordinates": tuple(np.asarray(axis, dtype=np.float64) for axis in plain["coordinates"]),
            "times": np.asarray(plain["times"], dtype=np.float64),
        }
        return cls(**(plain | arrays))

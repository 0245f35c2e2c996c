"""Recipe: what makes a generated file, as its attribute keeps it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

# Raised when a change makes other numbers from the same recipe.
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that the numbers of a generated file depend on."""

    task: str
    parameter: float
    samples: int
    resolution: int  # cells along each axis
    frames: int  # saved frames; 1 for steady problems
    end_time: float  # PDE time of the last frame; 0 for steady problems
    seed: int
    mode: Literal["clean", "pdebench"]
    version: int = VERSION

    @property
    def times(self) -> np.ndarray:
        """The saved times and, as PDEBench stores it, the end of one interval more: (frames + 1,)."""
        return np.arange(self.frames + 1) * (self.end_time / max(1, self.frames - 1))

    @property
    def cell_centres(self) -> np.ndarray:
        """The cell centres of the unit interval, (resolution,)."""
        return (np.arange(self.resolution) + 0.5) / self.resolution

    def generator(self, sample: int) -> np.random.Generator:
        """Returns the random stream of one sample: it does not depend on how many others are made."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(sample,)))

    def to_json(self) -> str:
        """Returns the recipe as it is stored in the file's attribute."""
        return json.dumps(asdict(self), sort_keys=True)

    def differences(self, other: dict[str, Any]) -> list[str]:
        """Returns 'name: there, here' for every entry in which a stored recipe is another one."""
        mine = asdict(self)
        return [f"{name} {other.get(name)} instead of {mine[name]}" for name in mine if other.get(name) != mine[name]]

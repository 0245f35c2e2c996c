"""PDEBench's random initial conditions in one dimension, as functions that can be asked anywhere.

u0(x) = sum over four modes of A sin(k x + phi), A ~ U(0, 1), phi ~ U(0, 2 pi). Two numbers are drawn
with replacement from 1 to 4; a mode n drawn s times has k = 2 pi n s / L, so a double draw doubles
its wavenumber, and a mode that was not drawn has k = 0: the constant A sin(phi). Then, with
probability 0.1, |u0|; a random sign; and, with probability 0.1, times the window
(tanh((x - left) / 0.01) - tanh((x - right) / 0.01)) / 2, left ~ U(0.1, 0.45), right ~ U(0.55, 0.9).

PDEBench takes L as the distance between its first and last cell centre on 1024 cells, 1 - 1/1024.
We keep that at every resolution, so that a coarser file samples the same functions; u0 has, as
theirs, a small jump where the domain closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MODES = np.arange(1, 5)
DRAWS = 2
LENGTH = 1 - 1 / 1024
WINDOW_WIDTH = 0.01


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InitialConditions:
    """A batch of B initial conditions; modes along the second axis where there is one."""

    wavenumber: np.ndarray  # (B, 4), 0 for a mode that was not drawn
    amplitude: np.ndarray  # (B, 4)
    phase: np.ndarray  # (B, 4)
    sign: np.ndarray  # (B,)
    absolute: np.ndarray  # (B,) bool
    windowed: np.ndarray  # (B,) bool
    left: np.ndarray  # (B,)
    right: np.ndarray  # (B,)

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Returns u0 at `points` (P,) of the unit interval: (B, P), float64."""
        u = np.zeros((len(self.sign), len(points)))
        for k, amplitude, phase in zip(self.wavenumber.T, self.amplitude.T, self.phase.T, strict=True):
            u += amplitude[:, None] * np.sin(k[:, None] * points + phase[:, None])
        u[self.absolute] = np.abs(u[self.absolute])
        u *= self.sign[:, None]
        for row in np.flatnonzero(self.windowed):
            u[row] *= _window(points, self.left[row], self.right[row])
        return u


def draw(generators: Sequence[np.random.Generator]) -> InitialConditions:
    """Returns one initial condition for each random stream."""
    singles = [_draw_one(generator) for generator in generators]
    return InitialConditions(**{name: np.stack([single[name] for single in singles]) for name in singles[0]})


def _draw_one(generator: np.random.Generator) -> dict[str, np.ndarray]:
    drawn = generator.integers(MODES[0], MODES[-1] + 1, size=DRAWS)
    times_drawn = (drawn[:, None] == MODES).sum(axis=0)
    # Every number is drawn for every sample, used or not: the stream then never depends on a coin.
    return {
        "wavenumber": 2 * np.pi * MODES * times_drawn / LENGTH,
        "amplitude": generator.uniform(0, 1, size=MODES.size),
        "phase": generator.uniform(0, 2 * np.pi, size=MODES.size),
        "absolute": np.asarray(generator.uniform() < 0.1),
        "sign": np.asarray(generator.choice([-1.0, 1.0])),
        "windowed": np.asarray(generator.uniform() < 0.1),
        "left": np.asarray(generator.uniform(0.1, 0.45)),
        "right": np.asarray(generator.uniform(0.55, 0.9)),
    }


def _window(points: np.ndarray, left: float, right: float) -> np.ndarray:
    rise = np.tanh((points - left) / WINDOW_WIDTH)
    fall = np.tanh((points - right) / WINDOW_WIDTH)
    return np.asarray(0.5 * (rise - fall))

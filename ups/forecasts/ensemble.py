"""Is an ensemble's spread what its error is? CRPS, spread and skill, rank histogram.

Shapes: M members, B samples, X grid axes, C channels.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor


def crps(members_MBXC: Tensor, truth_BXC: Tensor) -> Tensor:
    """Returns the continuous ranked probability score of each sample, mean over points, (B,), units of the field.

    mean |x_i - y| - sum over pairs |x_i - x_j| / (2 M (M - 1)): the form that does not favour small spread for
    few members (Ferro 2014, doi:10.1002/qj.2270, "fair"). For one sure forecast it would be the absolute error.
    """
    count = len(members_MBXC)
    error = (members_MBXC - truth_BXC).abs().mean(0)
    ordered, _ = members_MBXC.sort(dim=0)
    # The sum over pairs of sorted members needs no pairs: member i is above i others and below M - 1 - i.
    weights = 2 * torch.arange(count, dtype=ordered.dtype, device=ordered.device) - count + 1
    pairs = torch.tensordot(weights, ordered, dims=1) / (count * (count - 1))
    score: Tensor = (error - pairs).flatten(1).mean(1)
    return score


def spread_and_error(members_MBXC: Tensor, truth_BXC: Tensor) -> dict[str, Tensor]:
    """Returns CRPS, spread (root of the members' variance) and skill (RMSE of their mean), (B,) each.

    A calibrated ensemble of M has skill^2 = (1 + 1 / M) spread^2 (Fortin et al. 2014, doi:10.1175/JHM-D-14-0008.1).
    """
    variance = members_MBXC.var(dim=0, unbiased=True).flatten(1).mean(1)
    skill = (members_MBXC.mean(0) - truth_BXC).flatten(1).square().mean(1).sqrt()
    return {"crps": crps(members_MBXC, truth_BXC), "spread": variance.sqrt(), "skill": skill}


@dataclass(slots=True)
class Calibration:
    """Sums over samples: what an ensemble's numbers in evaluation.json are made of."""

    members: int
    count: int = 0
    crps: float = 0.0
    variance: float = 0.0
    squared_error: float = 0.0
    ranks: list[int] = field(default_factory=list)  # how often the truth had so many members below it

    def add(self, members_MBXC: Tensor, truth_BXC: Tensor) -> None:
        """Adds samples."""
        found = spread_and_error(members_MBXC.double(), truth_BXC.double())
        self.count += len(truth_BXC)
        self.crps += float(found["crps"].sum())
        self.variance += float(found["spread"].square().sum())
        self.squared_error += float(found["skill"].square().sum())
        below = (members_MBXC < truth_BXC).sum(0).flatten()
        counted = torch.bincount(below, minlength=self.members + 1).tolist()
        self.ranks = [a + b for a, b in zip(self.ranks or [0] * len(counted), counted, strict=True)]

    def result(self) -> dict[str, float | int | list[float]]:
        """Returns the numbers; a calibrated ensemble has a spread_skill of 1 and a flat rank histogram."""
        spread = (self.variance / self.count) ** 0.5
        skill = (self.squared_error / self.count) ** 0.5
        share = (1 + 1 / self.members) ** 0.5
        total = sum(self.ranks)
        return {
            "members": self.members,
            "crps": self.crps / self.count,
            "spread": spread,
            "skill": skill,
            "spread_skill": share * spread / skill if skill else 1.0,
            "rank_histogram": [one / total for one in self.ranks],
        }

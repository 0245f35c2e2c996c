"""How far a rollout goes at a step of the training, and how much of a weight that is warmed up counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ups.config import ObjectiveConfig


@dataclass(frozen=True, slots=True)
class Horizon:
    """The schedule of one stage of so many optimizer steps; it depends on the step alone, so all ranks agree."""

    objective: ObjectiveConfig
    total_steps: int

    def rollout(self, step: int) -> int:
        """Returns how many steps follow the first one: none at first, then one more at equal distances, then all."""
        wanted, begins = self.objective.rollout, self.objective.rollout_from * self.total_steps
        if step < begins:
            return 0
        left = max(1.0, self.total_steps - begins)
        # Half of what is left is spent on growing, half on the whole length.
        return min(wanted, 1 + math.floor(2 * wanted * (step - begins) / left))

    def inverse(self, step: int) -> float:
        """Returns the weight of the inverse term, which grows from 0 over the warm-up."""
        warm = self.objective.inverse_warmup * self.total_steps
        return self.objective.inverse * (min(1.0, step / warm) if warm > 0 else 1.0)

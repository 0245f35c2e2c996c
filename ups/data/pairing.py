"""Which frames of a trajectory are input and target of an item, and which follow when the step is made again.

Items are counted by lead, the frames between input and target, from 1 up, then by input frame: the items of lead 1 are
those of one frame to the next. Shapes: N items, R later steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ups.config import ObjectiveConfig
from ups.data.field_spec import FieldSpec
from ups.data.pde.equations import equation
from ups.errors import ConfigError


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """All pairs up to `longest_lead` frames apart, each with `ahead` further targets at the same distance."""

    frames: int
    longest_lead: int = 1
    ahead: int = 0
    start_N: np.ndarray = field(init=False)
    lead_N: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        leads = range(1, self.longest_lead + 1)
        starts = [np.arange(max(1, self.frames - lead)) for lead in leads]
        object.__setattr__(self, "start_N", np.concatenate(starts))
        object.__setattr__(self, "lead_N", np.repeat(list(leads), [len(one) for one in starts]))

    def __len__(self) -> int:
        """Returns the number of items of one trajectory; a steady problem has one."""
        return len(self.start_N)

    def places(self, item_N: np.ndarray) -> np.ndarray:
        """Returns input, target and later frames of the items, (N, 2 + R); beyond the end the last frame stands."""
        steps = np.arange(2 + self.ahead)
        wanted = self.start_N[item_N][:, None] + self.lead_N[item_N][:, None] * steps
        return np.asarray(np.minimum(wanted, self.frames - 1))

    def known(self, item_N: np.ndarray) -> np.ndarray:
        """Returns which of the later steps lie in the data, (N, R)."""
        steps = np.arange(2, 2 + self.ahead)
        inside: np.ndarray = self.start_N[item_N][:, None] + self.lead_N[item_N][:, None] * steps < self.frames
        return inside

    def conditions(self, times: np.ndarray, log_parameter: float, item_N: np.ndarray) -> np.ndarray:
        """Returns (lead time, time of the input, log10 of the parameter) of each step, (N, 1 + R, 3), float32.

        Steps beyond the data keep the item's own lead time.
        """
        places = self.places(item_N)
        now, then = times[places[:, :-1]], times[places[:, 1:]]
        inside = np.concatenate([np.ones((len(places), 1), dtype=bool), self.known(item_N)], axis=1)
        lead = np.where(inside, then - now, (then - now)[:, :1])
        return np.stack([lead, now, np.full_like(now, log_parameter)], axis=-1).astype(np.float32)


def check_objective(objective: ObjectiveConfig, task: str) -> None:
    """Raises ConfigError where a steady problem is asked for what only goes on in time."""
    if equation(task).KIND == "steady" and (objective.rollout or objective.longest_lead > 1):
        raise ConfigError(
            f"objective.rollout and objective.longest_lead are for what goes on in time, and {task} is steady",
            hint="leave them out",
        )


def pairing_of(objective: ObjectiveConfig, spec: FieldSpec) -> Pairing:
    """Returns what the operator is trained on. Raises ConfigError where the data has not what is asked for."""
    check_objective(objective, spec.task)
    if objective.longest_lead >= max(2, spec.frames):
        raise ConfigError(
            f"objective.longest_lead is {objective.longest_lead}, and the data has {spec.frames} frames",
            hint=f"--set objective.longest_lead={max(1, spec.frames - 1)} takes all pairs",
        )
    return Pairing(spec.frames, objective.longest_lead, objective.rollout)

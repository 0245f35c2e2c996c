"""A step whose loss or gradient is far from its own history: seen by all ranks alike, kept for the doctor.

Far is judged on the logarithm, by the median of the last steps and their median deviation from it: a few odd steps do
not move either. What is kept names the samples, so that they can be looked at, and left out.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from torch import Tensor

from ups.data.sampler import GlobalBatchSampler
from ups.distributed import World, sums
from ups.errors import AgreedError
from ups.run_folder import RunFolder

HISTORY = 100  # steps
LEAST_HISTORY = 20  # steps before anything is judged
DEVIATIONS = 8.0  # median deviations; of normal noise one step in thirty million is that far off
LEAST_FACTOR = 4.0  # and never less than so many times the median
SMALLEST = 1e-30
MOST_IN_A_ROW = 5  # more of them are no spike but a new level: history begins again
MOST_REWINDS = 5  # of a stage


@dataclass(slots=True)
class History:
    """The last values of one quantity, logarithms."""

    values: deque[float] = field(default_factory=lambda: deque(maxlen=HISTORY))

    def factor(self, value: float) -> float:
        """Returns how many times its usual size a value is where that is a spike, else 0."""
        if len(self.values) < LEAST_HISTORY:
            return 0.0
        middle = statistics.median(self.values)
        deviation = statistics.median(abs(one - middle) for one in self.values)
        above = math.log(max(value, SMALLEST)) - middle
        return math.exp(above) if above > max(DEVIATIONS * deviation, math.log(LEAST_FACTOR)) else 0.0

    def add(self, value: float) -> None:
        """Takes a value in that was no spike."""
        self.values.append(math.log(max(value, SMALLEST)))


class Rewind(Exception):  # noqa: N818 - it is no error: the loop goes back
    """All ranks go back to the last checkpoint."""


class Surroundings(Protocol):
    """Where spikes are told, and where the run lies."""

    @property
    def folder(self) -> RunFolder:
        """The run's folder."""
        ...

    def note(self, text: str, kind: str, stage: str, step: int, **values: float) -> None:
        """Shows a line, and keeps a record."""
        ...


class SpikeGuard:
    """Judges each step by its mean loss over all ranks and its gradient norm, which every rank knows."""

    def __init__(
        self, action: str, world: World, stage: str, sampler: GlobalBatchSampler, around: Surroundings
    ) -> None:
        self._action, self._world, self._stage, self._sampler, self._around = action, world, stage, sampler, around
        self.loss, self.norm = History(), History()
        self._left_out: set[tuple[int, int]] = set()  # epoch and batch, on the way back to where a spike was
        self._rewinds = self._in_a_row = 0
        self.can_go_back = False  # this stage has a checkpoint

    def leaves_out(self, epoch: int, batch: int) -> bool:
        """Whether a spike was seen at this batch, and the run went back because of it."""
        return (epoch, batch) in self._left_out

    def admits(self, loss: Tensor, norm: Tensor, count: int, epoch: int, batch: int, step: int) -> bool:
        """Returns whether the optimizer makes its step; `loss` is this rank's sum. Every rank comes here.

        Raises Rewind where all go back, and AgreedError where they have done so too often.
        """
        if self._action == "off":
            return True
        mean, size = sums([loss], self._world)[0] / count, float(norm)
        far = self._far(mean, size)
        if not far:
            return True
        where = f"in stage {self._stage} at step {step + 1} (epoch {epoch}, batch {batch})"
        back = self._action == "rewind" and self.can_go_back
        then = {"keep": "the step is made", "skip": "all ranks leave the batch out"}.get(
            self._action, "all ranks go back to the last checkpoint" if back else "no checkpoint: it is left out"
        )
        self._keep(far, mean, size, epoch, batch, step)
        self._around.note(f"spike {where}: {far}; {then}", "spike", self._stage, step, loss=mean, grad_norm=size)
        if back:
            self._go_back(epoch, batch, where)
        return self._action == "keep"

    def _far(self, loss: float, norm: float) -> str:
        pairs = (("its loss", self.loss, loss), ("its gradient norm", self.norm, norm))
        far = [
            f"{name} is {factor:.0f} times the median of {len(history.values)} steps"
            for name, history, value in pairs
            if (factor := history.factor(value))
        ]
        self._in_a_row = self._in_a_row + 1 if far else 0
        if self._in_a_row > MOST_IN_A_ROW:
            self._in_a_row, far = 0, []
            self.loss, self.norm = History(), History()
        if not far:
            self.loss.add(loss)
            self.norm.add(norm)
        return " and ".join(far)

    def _go_back(self, epoch: int, batch: int, where: str) -> NoReturn:
        self._rewinds += 1
        if self._rewinds > MOST_REWINDS:
            raise AgreedError(
                f"a spike {where}, after the run went back {MOST_REWINDS} times: all ranks stop",
                hint=f"look at the samples in {self._around.folder.spikes}, or lower stages.{self._stage}.lr",
            )
        self._left_out.add((epoch, batch))
        raise Rewind

    def _keep(self, why: str, loss: float, norm: float, epoch: int, batch: int, step: int) -> None:
        """Writes down which samples it was, for whoever looks for the cause."""
        if not self._world.is_first:
            return
        size = self._sampler.global_batch
        samples = self._sampler.order(epoch)[batch * size : (batch + 1) * size]
        found = {"stage": self._stage, "epoch": epoch, "batch": batch, "step": step, "why": why}
        with self._around.folder.spikes.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({**found, "loss": loss, "grad_norm": norm, "samples": samples}) + "\n")

    def state(self) -> dict[str, Any]:
        """Returns what `load_state` takes."""
        return {"loss": list(self.loss.values), "norm": list(self.norm.values), "in_a_row": self._in_a_row}

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes on where `state` was taken; what is left out stays so."""
        self.loss, self.norm = (History(deque(state[name], maxlen=HISTORY)) for name in ("loss", "norm"))
        self._in_a_row = state["in_a_row"]

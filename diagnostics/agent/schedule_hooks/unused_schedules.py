"""Schedulers that were made for an optimizer and are never stepped: its rate stays what it was.

Asked at a few steps only. Where any scheduler of the optimizer was ever stepped, or the rate is another one than these
left it at, nothing is asked any more: of several, one after the other, the first is.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames
from .horizons import facts_of

FIRST = 40  # steps


class UnusedSchedules(Part):
    """Of all optimizers."""

    def forget(self):
        """Starts over."""
        self._used = set()  # numbers of optimizers

    def step(self, optimizer, followed):
        """Looks at its schedulers, at steps 40, 80, 160 ..."""
        if not is_due(followed.count, FIRST) or followed.index in self._used:
            return
        every = self.marks.rates.schedulers()
        mine = [each for each in every if getattr(each[0], "optimizer", None) is optimizer]
        rate = optimizer.param_groups[0]["lr"]
        if not mine or any(_is_used(one, rate) for one, _ in mine):
            self._used.add(followed.index)
            return
        scheduler, frames = mine[-1]
        if type(rate) is float:
            self.marks.tell(
                "schedule-unused", optimizer=followed.index, step=followed.count, rate=rate,
                scheduler=type(scheduler).__qualname__, horizon=facts_of(scheduler)["horizon"], made=frames,
                at=own_frames(sys._getframe(1)),
            )  # fmt: skip


def _is_used(scheduler, rate):
    """Whether it was stepped since it was made, or somebody else set the rate."""
    left = getattr(scheduler, "_last_lr", None) or [rate]
    return getattr(scheduler, "_step_count", 2) > 1 or left[0] != rate

"""Schedulers that were stepped far more rarely than their optimizer, and are made for more steps than that.

Asked at a few steps only. Whether the end was meant to be that many steps of the optimizer is known when the run is
over: one that is stepped once an epoch, and made for the epochs, looks the same for the first of them.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames
from .horizons import facts_of

RARELY = 3  # steps of the optimizer for each of the scheduler
REPEATED = ("StepLR", "ReduceLROnPlateau")  # they have no end


class SlowSchedules(Part):
    """Of all optimizers."""

    def step(self, optimizer, followed):
        """Looks at its schedulers, at steps 10, 20, 40 ..."""
        if not is_due(followed.count):
            return
        rate = optimizer.param_groups[0]["lr"]
        if type(rate) is not float:  # a tensor may lie on a device
            return
        for scheduler, frames in self.marks.rates.schedulers():
            if getattr(scheduler, "optimizer", None) is not optimizer or type(scheduler).__name__ in REPEATED:
                continue
            facts = facts_of(scheduler)
            stepped, horizon = facts["stepped"], facts["horizon"]
            if stepped and horizon and RARELY * stepped <= followed.count <= horizon:
                self.marks.tell(
                    "schedule-slow", optimizer=followed.index, step=followed.count, made=frames,
                    rate=rate, at=own_frames(sys._getframe(1)), **facts,
                )  # fmt: skip

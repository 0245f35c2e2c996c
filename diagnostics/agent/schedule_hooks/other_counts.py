"""Schedules that are stepped with each optimizer step: milestones that are behind already, and ends that are far off.

Whether these counted epochs, or the steps of all ranks, is known when the run is over.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames
from .horizons import facts_of

FIRST = 10  # steps


class OtherCounts(Part):
    """Of all optimizers."""

    def forget(self):
        """Starts over."""
        self._told = set()  # ids of schedulers

    def step(self, optimizer, followed):
        """Looks at its schedulers, at steps 10, 20, 40 ..."""
        if not is_due(followed.count, FIRST):
            return
        rate = optimizer.param_groups[0]["lr"]
        if type(rate) is not float:  # a tensor may lie on a device
            return
        for scheduler, frames in self.marks.rates.schedulers():
            if getattr(scheduler, "optimizer", None) is not optimizer or id(scheduler) in self._told:
                continue
            facts = facts_of(scheduler)
            if not facts["stepped"] or abs(facts["stepped"] - followed.count) > 1:
                continue  # not stepped with each step
            passed = _milestones_of(scheduler)
            if passed and passed[-1] <= facts["stepped"]:
                facts["horizon"] = passed[-1]
            elif not facts["horizon"] or facts["horizon"] < followed.count or followed.count == FIRST:
                continue
            else:
                passed = []
            self._told.add(id(scheduler))
            self.marks.tell(
                "schedule-paced", optimizer=followed.index, step=followed.count, rate=rate,
                first=min(passed, default=0), made=frames, at=own_frames(sys._getframe(1)), **facts,
            )  # fmt: skip


def _milestones_of(scheduler):
    """Returns the steps at which a MultiStepLR lowers the rate, in order; [] of another one."""
    milestones = getattr(scheduler, "milestones", None)
    if type(scheduler).__name__ != "MultiStepLR" or not milestones or not getattr(scheduler, "gamma", 1) < 1:
        return []
    return sorted(one for one in milestones if type(one) is int)

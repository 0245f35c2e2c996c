"""Rates that come down and go up again by the same steps, time after time: a cosine far behind its end.

One number is compared at each step. Where the rate turns upward, it is asked which scheduler has an end that fits.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames
from .horizons import facts_of

FIRST = 2  # turns
KINDS = ("CosineAnnealingLR", "LambdaLR")  # the others that swing are meant to


class Swing:
    """The first group of one optimizer."""

    __slots__ = ("bottom", "falls", "high", "low", "rate", "top", "turns")

    def __init__(self, rate):
        self.rate = self.high = rate
        self.falls, self.turns = False, 0
        self.low = None  # at the latest bottom
        self.top = self.bottom = 0  # steps


class SwingingRates(Part):
    """Of all optimizers."""

    def forget(self):
        """Starts over."""
        self._swings = {}  # number of an optimizer -> Swing

    def step(self, optimizer, followed):
        """Looks at the rate that this step uses."""
        rate = optimizer.param_groups[0]["lr"]
        swing = self._swings.get(followed.index)
        if swing is None:
            if type(rate) is float:
                self._swings[followed.index] = Swing(rate)
            return
        if rate == swing.rate or type(rate) is not float:
            return
        if rate < swing.rate:
            if not swing.falls:
                swing.falls, swing.top, swing.high = True, followed.count - 1, swing.rate
        elif swing.falls:
            swing.falls, before = False, swing.bottom
            swing.bottom, swing.low = followed.count - 1, swing.rate
            self._turned(optimizer, followed, swing, swing.bottom - before)
        swing.rate = rate

    def _turned(self, optimizer, followed, swing, period):
        """The rate goes up again; `period`: steps since it did so before."""
        swing.turns += 1
        if not is_due(swing.turns, FIRST):
            return
        for scheduler, frames in self.marks.rates.schedulers():
            if getattr(scheduler, "optimizer", None) is not optimizer:
                continue
            facts = facts_of(scheduler)
            if facts["horizon"] and any(one.__name__ in KINDS for one in type(scheduler).__mro__):
                self.marks.tell(
                    "rate-swings", optimizer=followed.index, step=followed.count, turns=swing.turns, period=period,
                    fell=swing.bottom - swing.top, low=swing.low, high=swing.high, made=frames,
                    at=own_frames(sys._getframe(1)), **facts,
                )  # fmt: skip

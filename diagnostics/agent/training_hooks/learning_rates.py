"""Learning rates that came down to nothing while steps are still made, and the schedulers that brought them there."""

from __future__ import annotations

import sys
import weakref

from ..part import Part, is_due
from ..patching import wrap_method
from ..schedule_hooks.horizons import facts_of
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

MODULE = "torch.optim.lr_scheduler"
NOTHING = 1e-7  # of the highest rate there was
MOST_SCHEDULERS = 16
MOST_PLATEAUS = 16
EVERY = 8  # steps
MOST_BASE = 0.05  # a rate that nobody means as the share of itself that is left of it


class Rate:
    """The first group of one optimizer."""

    __slots__ = ("first", "lone", "peak", "run", "squared")

    def __init__(self, lone):
        self.peak, self.run, self.first = 0.0, 0, 0
        self.lone = lone  # the one scheduler it had at its first step, a LambdaLR at its start
        self.squared = 0.0  # the peak that was told as a product of the rate with itself


class Rates(Part):
    """Of all optimizers, and what schedules them."""

    def forget(self):
        """Starts over."""
        self._rates, self._schedulers = {}, []  # number of an optimizer -> Rate; (weak reference, where it was made)
        self._ended = set()  # ids of schedulers that came to their end
        self.before_plateau, self._plateaus = None, 0  # rates and number of a call; how many were told

    def step(self, optimizer, followed):
        """Looks at the rate that this step uses."""
        rate = optimizer.param_groups[0]["lr"]
        if type(rate) is not float:
            return
        known = self._rates.get(followed.index)
        if known is None:
            known = self._rates[followed.index] = Rate(self._lone_of(optimizer))
        if not followed.count % EVERY and self._schedulers:
            self._tell_ended(optimizer, followed)
            if known.lone is not None:
                self._tell_squared(optimizer, followed, known, rate)
        if rate > known.peak:
            known.peak, known.run = rate, 0
        elif rate > NOTHING * known.peak or not known.peak:
            known.run = 0
        elif all(_is_nothing(group["lr"], known.peak) for group in optimizer.param_groups):
            known.run += 1
            if known.run == 1:
                known.first = followed.count
            if is_due(known.run):
                self._tell(optimizer, followed, known, rate, own_frames(sys._getframe(1)))

    def made(self, scheduler, frames):
        """Notes a new scheduler."""
        if len(self._schedulers) < MOST_SCHEDULERS:
            self._schedulers.append((weakref.ref(scheduler), frames))

    def schedulers(self):
        """Returns (scheduler, where it was made) of those that live."""
        return [
            (one, frames) for one, frames in ((ref(), frames) for ref, frames in self._schedulers) if one is not None
        ]

    def plateau(self, scheduler, before, metric, frame):
        """A scheduler was given a number; tells where it changed the rate by it."""
        rates = _rates_of(scheduler)
        if rates == before or self._plateaus >= MOST_PLATEAUS:
            return
        self._plateaus += 1
        number = metric if type(metric) in (int, float) else tensor_samples.scalar_of(metric)
        self.marks.tell(
            "rate-by-number", optimizer=self.marks.number_of(scheduler.optimizer),
            step=self.marks.count_of(scheduler.optimizer), rate=rates[0], before=before[0],
            number=tensor_samples.shown(number), scheduler=type(scheduler).__qualname__, at=own_frames(frame),
            made=next((frames for one, frames in self._schedulers if one() is scheduler), []),
        )  # fmt: skip

    def _tell_ended(self, optimizer, followed):
        """Tells once of each scheduler that made as many steps as it says there will be."""
        for reference, frames in self._schedulers:
            one = reference()
            if one is None or id(one) in self._ended or getattr(one, "optimizer", None) is not optimizer:
                continue
            facts = facts_of(one)
            if facts["horizon"] and facts["stepped"] and facts["stepped"] >= facts["horizon"]:
                self._ended.add(id(one))
                self.marks.tell(
                    "schedule-over", optimizer=followed.index, step=followed.count, made=frames, **facts
                )  # fmt: skip

    def _lone_of(self, optimizer):
        """Returns the scheduler of an optimizer and where it was made: a LambdaLR that begins, and no other."""
        mine = [(ref, frames) for ref, frames in self._schedulers if getattr(ref(), "optimizer", None) is optimizer]
        one = mine[0][0]() if len(mine) == 1 else None
        return mine[0] if type(one).__name__ == "LambdaLR" and one.last_epoch in (0, 1) else None

    def _tell_squared(self, optimizer, followed, known, rate):
        """Tells of a highest rate, once it is behind, that is the given one times itself, and of a higher one."""
        base = optimizer.param_groups[0].get("initial_lr")
        if type(base) is not float or not 0 < base <= MOST_BASE or known.peak == known.squared:
            return
        is_so = rate < known.peak and abs(known.peak - base * base) <= NOTHING * known.peak
        if (is_so or known.squared) and all(_is_scaled(group, base, rate) for group in optimizer.param_groups):
            known.squared = known.peak
            reference, frames = known.lone
            scheduler = reference()
            self.marks.tell(
                "rate-squared", optimizer=followed.index, step=followed.count, base=base, peak=known.peak, rate=rate,
                stepped=scheduler.last_epoch if scheduler is not None else None, made=frames,
            )  # fmt: skip

    def _tell(self, optimizer, followed, known, rate, at):
        found = [(one(), frames) for one, frames in self._schedulers]
        mine = [(one, frames) for one, frames in found if one is not None and one.optimizer is optimizer]
        scheduler, frames = mine[-1] if mine else (None, [])
        self.marks.tell(
            "rate-gone", optimizer=followed.index, step=followed.count, run=known.run, first=known.first, rate=rate,
            peak=known.peak, at=at, made=frames, **(facts_of(scheduler) if scheduler is not None else {}),
        )  # fmt: skip


def _is_nothing(rate, peak):
    return type(rate) is float and rate <= NOTHING * peak


def _is_scaled(group, base, rate):
    """Whether this group is at the same share of the rate it was given as the first one."""
    given, now = group.get("initial_lr"), group["lr"]
    return type(given) is float and type(now) is float and abs(now * base - rate * given) <= NOTHING * rate * given


def _watch_plateaus(marks, owner):
    """Marks each time that a scheduler lowers the rate by a number it was given, which may be one rank's own."""

    def lowers(frame, args, kwargs):
        scheduler = args[0]
        metric = args[1] if len(args) > 1 else kwargs.get("metrics")
        marks.rates.before_plateau = _rates_of(scheduler), metric

    def lowered(frame, result, args, kwargs):
        (before, metric), marks.rates.before_plateau = marks.rates.before_plateau, None
        marks.rates.plateau(args[0], before, metric, frame)

    wrap_method(owner, "step", before=lowers, after=lowered)


def _rates_of(scheduler):
    return [group["lr"] for group in scheduler.optimizer.param_groups]


def watch(marks, after_init):
    """Notes each scheduler that is made."""
    module = sys.modules[MODULE]
    owner = getattr(module, "LRScheduler", None) or getattr(module, "_LRScheduler", None)
    if owner is not None:
        after_init(owner, marks.rates.made)
    plateau = getattr(module, "ReduceLROnPlateau", None)
    if plateau is not None:
        _watch_plateaus(marks, plateau)

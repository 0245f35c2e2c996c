"""Numbers that ReduceLROnPlateau is given, and what the program calls them, told where it lowers the rate by them.

A number has the name of what holds the very same object: a variable, an entry of a dictionary, an attribute.
"""

from __future__ import annotations

import sys
import weakref

from ..frame_values import attributes_of, variables_of
from ..imports import when_imported
from ..part import Part
from ..patching import wrap_method
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import after_init, own_frames

MODULE = "torch.optim.lr_scheduler"
MOST_SCHEDULERS, MOST_TOLD = 8, 6  # of one scheduler
MOST_NUMBERS, LEAST_NUMBERS = 64, 4
MOST_FRAMES, MOST_NAMES, MOST_NAME = 4, 8, 60
MOST_HELD = 400  # objects of one frame, and entries of one of them


class Given:
    """One scheduler: where it was made, its first rate, the numbers it was given, the mean loss before each."""

    __slots__ = ("first", "losses", "made", "numbers", "ref", "told")

    def __init__(self, ref, made):
        self.ref, self.made, self.first = ref, made, None
        self.numbers, self.losses, self.told = [], [], 0


class Plateaus(Part):
    """All of one process."""

    def forget(self):
        """Starts over."""
        self._given = {}  # id of a scheduler -> Given
        self._sum, self._count = 0.0, 0  # of losses since the latest number
        self.before = None  # the rate when a call began

    def backward(self, tensors, loss, adds):
        """Takes the loss."""
        if adds and loss is not None and self._given:
            self._sum, self._count = self._sum + loss, self._count + 1

    def made(self, scheduler, frames):
        """Notes a new scheduler."""
        key = id(scheduler)
        if len(self._given) < MOST_SCHEDULERS:
            self._given[key] = Given(weakref.ref(scheduler, lambda _: self._given.pop(key, None)), frames)

    def takes(self, scheduler, metric, frame):
        """A scheduler was given a number and has decided."""
        key, rate = id(scheduler), scheduler.optimizer.param_groups[0]["lr"]
        before, self.before = self.before, None
        known = self._given.get(key)
        if known is None:
            return
        known.first = before if known.first is None else known.first
        known.numbers.append(_number_of(metric))
        known.losses.append(self._sum / self._count if self._count else None)
        self._sum, self._count = 0.0, 0
        del known.numbers[:-MOST_NUMBERS], known.losses[:-MOST_NUMBERS]
        is_cut = type(rate) is float and type(before) is float and rate < before
        if is_cut and len(known.numbers) >= LEAST_NUMBERS and known.told < MOST_TOLD:
            known.told += 1
            self.marks.tell(
                "plateau", optimizer=self.marks.number_of(scheduler.optimizer) or 0, scheduler=key % (1 << 53),
                step=self.marks.count_of(scheduler.optimizer), mode=str(scheduler.mode), first=known.first, rate=rate,
                numbers=[tensor_samples.shown(one) for one in known.numbers],
                losses=[tensor_samples.shown(one) for one in known.losses], names=names_of(metric, frame, scheduler),
                made=known.made, at=own_frames(frame),
            )  # fmt: skip


def _number_of(metric):
    if type(metric) in (int, float):
        return float(metric)
    if type(metric).__module__ == "numpy" and hasattr(metric, "dtype"):
        return float(metric)
    return tensor_samples.scalar_of(metric) if hasattr(metric, "numel") else None


def names_of(value, frame, scheduler):
    """Returns what the frames from this one outwards call this very object; what monitors beside the scheduler are."""
    found = []
    if type(value) in (int, bool, type(None)):  # there is one of each small one
        return found
    for _ in range(MOST_FRAMES):
        if frame is None or len(found) >= MOST_NAMES:
            break
        for name, held in variables_of(frame)[:MOST_HELD]:
            if type(name) is str:
                found += [one for one in _names_in(name, held, value, scheduler) if one not in found]
        frame = frame.f_back
    return [one[:MOST_NAME] for one in found[:MOST_NAMES]]


def _names_in(name, held, value, scheduler):
    if held is value:
        return [name]
    entries = held if type(held) is dict else attributes_of(held)
    if not entries or len(entries) > MOST_HELD:
        return []
    found = [(one, entry) for one, entry in list(entries.items()) if type(one) is str]
    beside = any(entry is scheduler for entry in list(entries.values()))  # an owner's setting, and no one else's
    return [
        one if entry is value else entry
        for one, entry in found
        if entry is value or (beside and _is_monitor(one, entry))
    ]


def _is_monitor(name, held):
    """Whether it is the name of what is looked at, as a setting has it."""
    return type(held) is str and ("monitor" in name or name in ("metric", "metric_name", "metric_to_check"))


def watch(plateaus):
    """Is told of each number that a ReduceLROnPlateau is given."""

    def begins(frame, args, kwargs):
        plateaus.before = args[0].optimizer.param_groups[0]["lr"]

    def decided(frame, result, args, kwargs):
        if not plateaus.marks.broken:
            plateaus.takes(args[0], args[1] if len(args) > 1 else kwargs.get("metrics"), frame)

    def wrap():
        owner = getattr(sys.modules[MODULE], "ReduceLROnPlateau", None)
        if owner is not None:
            after_init(owner, plateaus.made)
            wrap_method(owner, "step", before=begins, after=decided)

    when_imported(MODULE, wrap)

"""Rates that a schedule writes where no step reads them: groups that a loaded state replaced, another optimizer's.

`load_state_dict` of an optimizer makes its groups anew. Who kept the list or a group of before goes on writing there.
What nobody else holds is let go of at the first step; of what is held one number is compared before each step, until
the optimizer's own rate moves, too. A scheduler may also go on with an optimizer that was made anew.
"""

from __future__ import annotations

import sys
import weakref

from ..imports import when_imported
from ..part import Part, is_due
from ..patching import wrap_method
from ..torch_hooks.wrapped_models import own_frames

MODULE = "torch.optim.optimizer"
FIRST = 3  # changes
EVERY = 8  # steps
LEAST = 10  # steps of a scheduler, and of the optimizer meanwhile
MOST_GROUPS = 8
MOST_LOADED = 16
HELD_BY_US = 2  # references to a group that nobody else holds: the list's here, and that of the question


class Replaced:
    """The groups that one optimizer had before a state was loaded into it."""

    __slots__ = ("at", "changes", "groups", "own", "rates", "ref", "step")

    def __init__(self, ref, groups, at):
        self.ref, self.groups, self.at = ref, groups, at
        self.rates, self.own = None, None  # theirs and the optimizer's own, at the latest step
        self.changes, self.step = 0, 0


class LostRates(Part):
    """Of all optimizers."""

    def forget(self):
        """Starts over."""
        self._replaced = {}  # id of an optimizer -> Replaced
        self._elsewhere = {}  # (number of an optimizer, id of a scheduler) -> what was so when it was seen first
        self._told = set()

    def loads(self, optimizer, frame):
        """A state is about to be loaded: from now on the groups of now are nobody's."""
        key = id(optimizer)
        if key not in self._replaced and len(self._replaced) < MOST_LOADED:
            ref = weakref.ref(optimizer, lambda _: self._replaced.pop(key, None))
            self._replaced[key] = Replaced(ref, list(optimizer.param_groups[:MOST_GROUPS]), own_frames(frame))

    def step(self, optimizer, followed):
        """Compares what is written with what is used."""
        if self._replaced:
            one = self._replaced.get(id(optimizer))
            if one is not None and not self._compare(one, optimizer, followed):
                del self._replaced[id(optimizer)]
        if not followed.count % EVERY:
            for scheduler, made in self.marks.rates.schedulers():
                if getattr(scheduler, "optimizer", optimizer) is not optimizer:
                    self._follow(scheduler, made, optimizer, followed)

    def _compare(self, one, optimizer, followed):
        """Returns whether these groups are still of interest."""
        own = [group["lr"] for group in optimizer.param_groups[:MOST_GROUPS]]
        if one.rates is None:  # the first step since
            one.groups = [group for group in one.groups if sys.getrefcount(group) > HELD_BY_US + 1]
            one.groups = [group for group in one.groups if not any(group is each for each in optimizer.param_groups)]
            one.own, one.step = own, followed.count
        rates = [group.get("lr") for group in one.groups]
        if not rates or own != one.own or any(type(rate) is not float for rate in (*rates, *own)):
            return False
        if one.rates is not None and rates != one.rates:
            one.changes += 1
            if is_due(one.changes, FIRST):
                self.marks.tell(
                    "rates-lost", optimizer=followed.index, step=followed.count, since=one.step, changes=one.changes,
                    rate=own[0], written=rates[0], scheduler="", made=one.at, at=own_frames(sys._getframe(1)),
                )  # fmt: skip
        one.rates = rates
        return True

    def _follow(self, scheduler, made, optimizer, followed):
        """Tells of a scheduler that goes on while its optimizer makes no step and another one trains its parameters."""
        key, count, held = (followed.index, id(scheduler)), scheduler.last_epoch, scheduler.optimizer
        if key in self._told or type(count) is not int:
            return
        now = self.marks.count_of(held), [group["lr"] for group in optimizer.param_groups[:MOST_GROUPS]]
        written = [group.get("lr") for group in held.param_groups[:MOST_GROUPS]]
        seen = self._elsewhere.get(key)
        if seen is None or seen[0] != now:
            self._elsewhere[key] = now, count, followed.count, written
            return
        changes = count - seen[1]
        # A wrapper of the optimizer shares its groups: there both rates rest, or both change.
        if changes < LEAST or followed.count - seen[2] < LEAST or written == seen[3]:
            return
        self._told.add(key)
        if _share_parameters(held, optimizer):
            self.marks.tell(
                "rates-lost", optimizer=followed.index, step=followed.count, since=seen[2], changes=changes,
                rate=now[1][0], written=held.param_groups[0]["lr"], scheduler=type(scheduler).__qualname__, made=made,
                at=own_frames(sys._getframe(1)),
            )  # fmt: skip


def _share_parameters(one, other):
    own = {id(parameter) for group in one.param_groups for parameter in group["params"]}
    return any(id(parameter) in own for group in other.param_groups for parameter in group["params"])


def watch(marks):
    """Is told before each state that is loaded into an optimizer."""

    def loads(frame, args, kwargs):
        if not marks.broken:
            marks.lost_rates.loads(args[0], frame)

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Optimizer, "load_state_dict", before=loads))

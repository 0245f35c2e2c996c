"""Schedulers that begin anew for an optimizer whose state, of a run that had come some way, was loaded.

What a checkpoint holds is noted when it is read: counters, states of schedulers. That the run goes on where that one
had ended is seen by a variable of the program's that counts from there at the first step after the load.
"""

from __future__ import annotations

import re
import sys
import weakref

from ..frame_values import attributes_of, variables_of
from ..frames import is_library
from ..imports import when_imported
from ..part import Part
from ..patching import wrap_method
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .horizons import facts_of

MODULE, OPTIMIZERS = "torch.optim.lr_scheduler", "torch.optim.optimizer"
MOST_READ, MOST_LOADED, MOST_FRAMES, MOST_ENTRIES = 8, 8, 8, 64
LEAST_COUNT = 2  # of a counter: smaller ones are met by chance
ANEW = 1  # what a scheduler has counted at most at the first step, where nobody set it on
LEAST_STEPS = 10
FORGOTTEN = 20_000  # steps after which a scheduler that never moved is no longer waited for
_COUNTS = re.compile(r"(?:^|_)(?:epoch|step|iter|iteration|update|it|round)s?(?:$|_)")
_MOVES = ("last_epoch", "_step_count", "_last_lr", "_get_lr_called_within_step", "verbose", "lr_lambdas")


class Read:
    """A checkpoint that was read."""

    __slots__ = ("at", "counters", "file", "states")

    def __init__(self, content, file, at):
        self.file, self.at = file, at
        self.counters, self.states = {}, []  # (name, state of a scheduler)
        for name, one in list(content.items())[:MOST_ENTRIES]:
            if type(name) is not str:
                continue
            if type(one) is int and _COUNTS.search(name):
                self.counters[name] = one
            for state in one if type(one) in (list, tuple) and len(one) == 1 else (one,):
                if _is_schedule(state):
                    self.states.append((name, {key: value for key, value in state.items() if _is_plain(value)}))


class Loaded:
    """An optimizer that a state was loaded into, from there to where its schedule has moved the rate."""

    __slots__ = ("at", "began", "count", "first", "initial", "rate", "read", "ref", "schedule", "since", "variable")

    def __init__(self, optimizer, read, count, gone, at):
        group = optimizer.param_groups[0]
        self.ref, self.read, self.at = weakref.ref(optimizer, gone), read, at
        self.rate, self.initial = group["lr"], group.get("initial_lr")
        self.count = count  # steps that the state says were made
        self.since, self.first, self.schedule, self.began, self.variable = None, None, None, 0, ("", 0)


class ResumedSchedules(Part):
    """Of all optimizers of this process."""

    def forget(self):
        """Starts over."""
        self._read, self._loaded = [], {}  # id of an optimizer -> Loaded
        self._restored = set()  # ids of schedulers

    def read(self, content, file, frame):
        """A file was read."""
        if type(content) is dict:
            self._read = [*self._read[1 - MOST_READ :], Read(content, file, own_frames(frame))]

    def loaded(self, optimizer, frame):
        """A state was loaded into an optimizer."""
        key, group = id(optimizer), optimizer.param_groups[0]
        if type(group["lr"]) is not float or type(group.get("initial_lr")) is not float:
            self._loaded.pop(key, None)
        elif len(self._loaded) < MOST_LOADED or key in self._loaded:
            read = self._read[-1] if self._read else None
            self._loaded[key] = Loaded(
                optimizer, read, _steps_of(optimizer), lambda _: self._loaded.pop(key, None), own_frames(frame)
            )

    def restored(self, scheduler):
        """A state was loaded into a scheduler."""
        self._restored.add(id(scheduler))

    def step(self, optimizer, followed):
        """Follows an optimizer until its schedule has moved."""
        if not self._loaded:
            return
        one = self._loaded.get(id(optimizer))
        if one is not None and not (self._begin if one.since is None else self._follow)(one, optimizer, followed):
            del self._loaded[id(optimizer)]

    def _begin(self, one, optimizer, followed):
        """The first step since: returns whether its schedulers begin, and the run goes on."""
        mine = [
            (each, frames) for each, frames in self.marks.rates.schedulers()
            if getattr(each, "optimizer", None) is optimizer
        ]  # fmt: skip
        if not mine or abs(one.rate - one.initial) <= 0.01 * abs(one.initial):
            return False
        if any(id(each) in self._restored or not _is_anew(each) for each, _ in mine):
            return False
        one.since, one.first = followed.count, optimizer.param_groups[0]["lr"]
        (scheduler, _), one.began = mine[0], mine[0][0].last_epoch
        one.schedule = weakref.ref(scheduler), mine[0][1]
        counters = set(one.read.counters.values() if one.read is not None else ()) | {one.count}
        one.variable = _counting(sys._getframe(1), {each for each in counters if each >= LEAST_COUNT})
        return True

    def _follow(self, one, optimizer, followed):
        """Returns whether more is to be seen of it."""
        scheduler, rate = one.schedule[0](), optimizer.param_groups[0]["lr"]
        if scheduler is None or id(scheduler) in self._restored or type(rate) is not float:
            return False
        moved = scheduler.last_epoch - one.began
        if not moved or followed.count - one.since < LEAST_STEPS:
            return followed.count - one.since < FORGOTTEN
        key, kept, alike = self._state_for(one, scheduler)
        self.marks.tell(
            "schedule-anew", optimizer=followed.index, step=followed.count, since=one.since, loaded=one.rate,
            initial=one.initial, first=one.first, rate=rate, began=one.began, count=scheduler.last_epoch, key=key,
            kept=kept, alike=alike, variable=one.variable[0], counted=one.variable[1],
            scheduler=type(scheduler).__qualname__,
            made=one.schedule[1], loaded_at=one.at, at=own_frames(sys._getframe(1)),
            read_at=one.read.at if one.read is not None else [], horizon=facts_of(scheduler)["horizon"],
        )  # fmt: skip
        return False

    def _state_for(self, one, scheduler):
        """Returns the name of a scheduler's state in what was read, its count, and whether it is of such a schedule."""
        own = {name: value for name, value in vars(scheduler).items() if name not in _MOVES and _is_plain(value)}
        for name, state in one.read.states if one.read is not None else ():
            alike = all(own.get(key, value) == value for key, value in state.items() if key not in _MOVES)
            return name, max(0, state["last_epoch"]), alike
        return "", 0, False


def _is_schedule(state):
    return type(state) is dict and type(state.get("last_epoch")) is int and not {"_step_count", "base_lrs"} - set(state)


def _is_plain(value):
    if type(value) in (list, tuple):
        return all(type(one) in (int, float) for one in value)
    return type(value) in (int, float, str, bool)


def _is_anew(scheduler):
    count = getattr(scheduler, "last_epoch", None)
    return type(count) is int and count <= ANEW


def _steps_of(optimizer):
    """Returns how many steps the state of the first parameter says were made, 0 where it does not."""
    state = next(iter(optimizer.state.values()), None)
    steps = state.get("step") if type(state) is dict else None
    if type(steps) not in (int, float):
        steps = tensor_samples.scalar_of(steps) if hasattr(steps, "numel") else None
    return int(steps or 0)


def _counting(frame, counters):
    """Returns the name of a variable, or an attribute of `self`, that counts on from one of these, and its value."""
    wanted, frames = counters | {one + 1 for one in counters}, 0
    while frame is not None and frames < MOST_FRAMES and counters:
        if not is_library(frame.f_code.co_filename):
            frames += 1
            for name, value in variables_of(frame):
                if type(value) is int and value in wanted and _COUNTS.search(name):
                    return name, value
                if name == "self":
                    for key, held in list((attributes_of(value) or {}).items()):
                        if type(held) is int and held in wanted and type(key) is str and _COUNTS.search(key):
                            return "self.%s" % key, held
        frame = frame.f_back
    return "", 0


def watch(schedules, empties):
    """Is told of each state that is loaded into an optimizer or a scheduler."""

    def loaded(frame, result, args, kwargs):
        if not schedules.marks.broken:
            empties.loaded(args[0], args[1] if len(args) > 1 else kwargs.get("state_dict"), frame)
            schedules.loaded(args[0], frame)

    def restored(frame, result, args, kwargs):
        schedules.restored(args[0])
        empties.restored(args[0])

    def wrap():
        for owner in list(vars(sys.modules[MODULE]).values()):
            if type(owner) is type and "load_state_dict" in owner.__dict__ and owner.__module__ == MODULE:
                wrap_method(owner, "load_state_dict", after=restored)

    when_imported(OPTIMIZERS, lambda: wrap_method(sys.modules[OPTIMIZERS].Optimizer, "load_state_dict", after=loaded))
    when_imported(MODULE, wrap)

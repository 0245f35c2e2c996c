"""Trainings that draw the same random numbers after each seeding of torch's own generators.

torch.manual_seed seeds the devices, too, by way of `torch.cuda.manual_seed_all`, which torch.jit and torch.compile do
not know by its identity as they know torch.manual_seed. States are read at the first two steps after a seeding alone,
on the host: that of a CUDA generator is a seed and a count.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks import random_states
from ..torch_hooks.wrapped_models import own_frames
from .heard_functions import hear

MODULE, FUNCTION = "torch.cuda", "manual_seed_all"
CALLER = "torch/random.py"  # other callers seed the devices only
FIRST = 3  # rounds
LEAST_STEPS = 4  # in a round: who seeds before each step draws the same on purpose
MOST_SEEDINGS = 4096


class Round:
    """The steps of one optimizer since a seeding that came before its latest first one."""

    __slots__ = ("at", "moved", "run", "seed", "state", "steps")

    def __init__(self):
        self.state, self.moved = None, False  # at the first step; whether it was another one at the second
        self.run = self.steps = 0
        self.at, self.seed = [], None


class RepeatedDraws(Part):
    """Of all optimizers of this process."""

    def forget(self):
        """Starts over."""
        self._seedings, self._seeded = 0, None
        self._rounds = {}  # number of an optimizer -> Round
        self._latest = None

    def seeded(self, frame, args, kwargs):
        """The generators of the devices are seeded, by torch.manual_seed as a rule."""
        self._seedings += 1
        if self._seedings > MOST_SEEDINGS or self.marks.broken or not self.marks.steps:
            return
        if frame.f_code.co_filename.replace("\\", "/").endswith(CALLER):
            self._seeded = own_frames(frame), args[0] if args else kwargs.get("seed")

    def step(self, optimizer, followed):
        """Compares the states of the first step after a seeding."""
        latest = self._latest
        if self._seeded is not None:
            (at, seed), self._seeded = self._seeded, None
            one = self._rounds.get(followed.index)
            if one is None:
                one = self._rounds[followed.index] = Round()
            state = _state()
            goes_on = state == one.state and one.moved and one.steps >= LEAST_STEPS
            one.run = one.run + 1 if goes_on else 1
            one.state, one.moved, one.steps, one.at, one.seed = state, False, 1, at, seed
            self._latest = followed.index, one
        elif latest is not None and latest[0] == followed.index:
            one = latest[1]
            one.steps += 1
            if one.steps == 2:
                one.moved = _state() != one.state
            elif one.steps == LEAST_STEPS and one.moved and is_due(one.run, FIRST):
                self.marks.tell(
                    "drawn-again", optimizer=followed.index, step=followed.count, run=one.run,
                    seed=one.seed if type(one.seed) is int else None, at=one.at,
                )  # fmt: skip


def _state():
    """Returns what the generators of the host and of the device in use will draw next."""
    torch = sys.modules["torch"]
    found = [random_states.state_of(torch.default_generator)]
    try:
        if torch.cuda.is_initialized():
            generator = torch.cuda.default_generators[torch.cuda.current_device()]
            found += [generator.initial_seed(), generator.get_offset()]
    except (AttributeError, RuntimeError):  # an older torch, a graph that is captured: the host's alone
        pass
    return found


def watch(draws):
    """Is told of each seeding."""
    hear(FUNCTION, draws.seeded, MODULE, MODULE + ".random")

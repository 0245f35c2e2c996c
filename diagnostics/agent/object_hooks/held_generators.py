"""Random generators that the program's objects hold, and their states at three steps in a row.

Ranks are compared from outside: what was drawn from in each of the steps, and is in one state on two ranks, gives both
the same numbers. Generators are held for these three steps only: those of NumPy allow no weak reference.
"""

from __future__ import annotations

import sys

from ..torch_hooks import random_states
from . import held_objects

LOOKS = 3
MOST_HELD = 16


class HeldGenerators:
    """Those of one process."""

    def __init__(self):
        self._held, self._states = [], []

    def look(self, frame, begins):
        """Reads their states; returns what is told after the third step in a row, None before."""
        if begins:
            kinds = random_states.kinds()
            own = sys.modules["torch"].default_generator
            held = (one for one in held_objects.held_by(frame) if type(one.value) in kinds and one.value is not own)
            self._held = [one for _, one in zip(range(MOST_HELD), held)]  # noqa: B905 - strict is of Python 3.10
            self._states = []
        if not self._held:
            return None
        self._states.append([random_states.state_of(one.value) for one in self._held])
        if len(self._states) < LOOKS:
            return None
        found = [
            {"path": one.path[:120], "name": one.name[:80], "owner": one.owner[:80], "file": one.file, "states": states,
             "seed": _seed_of(one.value)}
            for one, *states in zip(self._held, *self._states)  # noqa: B905 - strict is of Python 3.10
            if all(state != after for state, after in zip(states, states[1:]))  # noqa: B905, RUF007
        ]  # fmt: skip
        self._held = []
        return found


def seed_of_process():
    """Returns the seed of torch's own generator."""
    return sys.modules["torch"].initial_seed()


def _seed_of(generator):
    return generator.initial_seed() if isinstance(generator, sys.modules["torch"].Generator) else None

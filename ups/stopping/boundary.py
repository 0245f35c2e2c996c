"""What ranks agree on between two steps, about once a second: whether to stop, and whether a checkpoint is written.

One reduction of three numbers. How many steps lie between two of them follows from how long a step takes, agreed on in
the same reduction: each step where it takes a second, and some hundred where it takes milliseconds.
"""

from __future__ import annotations

import time

from ups.checkpointing.saver import Saver
from ups.distributed import World, most
from ups.stopping.request import StopRequest

EVERY_S = 1.0


class Boundary:
    """Called by every rank after every step of a stage."""

    def __init__(self, world: World, stop: StopRequest, saver: Saver) -> None:
        self._world, self._stop, self._saver = world, stop, saver
        self._every, self._steps, self._since = 1, 0, time.monotonic()

    def signal_after_step(self) -> int:
        """Returns the signal that stops all ranks here, 0 where training goes on."""
        self._steps += 1
        return self.signal_now() if self._steps >= self._every else 0

    def signal_now(self) -> int:
        """The same, whatever number of steps was made."""
        now = time.monotonic()
        fitting = EVERY_S * max(1, self._steps) / max(now - self._since, 1e-9)
        # Twice as many at most: the first steps are no measure of the later ones.
        wanted = max(1, min(int(fitting), 2 * self._every))
        number, busy, least = most([float(self._stop.number), float(self._saver.busy), -float(wanted)], self._world)
        self._every, self._steps, self._since = int(-least), 0, now
        if self._saver.under_way and not busy:
            self._saver.settle()
        return int(number)

"""How long Python's garbage collections take, told by a callback in which no line of Python runs.

A signal that comes during a collection is answered at the next line of Python, and that would be our callback's: what
the program's handler raises there (KeyboardInterrupt for Ctrl-C) is printed and dropped by the collector, and the
program never hears of it. So the callback is put together of what is written in C: called with (phase, info), `max`
asks its key twice, and each time the clock is read and the time kept.
"""

from __future__ import annotations

import functools
import gc
import operator
from collections import deque
from itertools import repeat
from time import monotonic_ns

_TIMES = 4  # of a collection: two as it begins, two as it ends
_MOST = 16384 * _TIMES  # of a step: 3 MiB; what comes beyond that is not counted


class CollectionTimes:
    """Number and nanoseconds of all collections since it was made."""

    def __init__(self):
        self.count = self.ns = 0
        self._times = deque(maxlen=_MOST)
        kept = map(operator.is_, map(self._times.append, iter(monotonic_ns, None)), repeat(None))
        self._callback = functools.partial(max, key=functools.partial(next, kept))

    def begin(self):
        """Counts from now on."""
        gc.callbacks.append(self._callback)

    def forget(self):
        """Starts over."""
        self.count = self.ns = 0
        self._times.clear()

    def read(self):
        """Adds up the collections that have ended since the last call."""
        times = self._times
        while len(times) >= _TIMES:
            _, begun, ended, _ = [times.popleft() for _ in range(_TIMES)]
            self.ns += ended - begun
            self.count += 1

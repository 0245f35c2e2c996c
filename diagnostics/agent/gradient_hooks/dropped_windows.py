"""Micro-batches at the end of each epoch whose gradients are cleared before there are enough of them for a step.

One parameter of the only optimizer is watched. Where each step takes as many backward passes as the one before, two and
more, and between steps fewer passes than that are cleared away, after equally many passes each time, these are the last
window of an epoch. Steps that take fewer passes or more, other optimizers, and passes that are cleared now and then,
or as many as a step takes (a scaler's skipped step), end the watch or are no such window.
"""

from __future__ import annotations

import sys
import weakref

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .watched_gradient import choose, is_emptied

FIRST = 3  # windows that were dropped
MOST_TRIES = 4  # steps with one pass each, after which nothing is accumulated


class Windows:
    """The passes since the latest step, and what became of those before."""

    __slots__ = ("after", "drops", "due", "every", "lost", "parameter", "passes", "since", "size", "tries")

    def __init__(self, parameter):
        self.parameter, self.after = weakref.ref(parameter), None
        self.passes = self.since = 0  # since the latest step or clearing; since a window was dropped
        self.size = self.every = None  # passes that a step takes; between one dropped window's end and the next one's
        self.drops = self.lost = self.tries = 0
        self.due = None  # where the pass is that found it, until the next step


class DroppedWindows(Part):
    """Of the one optimizer of this process."""

    def forget(self):
        """Starts over."""
        self._windows, self._index, self._tries = None, None, 0
        self._over = False

    def step(self, optimizer, followed):
        """Judges how many passes this step takes."""
        if self._over:
            return
        windows = self._windows
        if windows is None:
            chosen = choose(optimizer)
            if chosen is not None:
                self._windows, self._index = Windows(chosen), followed.index
            self._tries += 1
            self._over = chosen is None and self._tries >= MOST_TRIES
            return
        windows.tries += windows.size in (None, 1)
        if (
            followed.index != self._index
            or not windows.passes
            or windows.passes != (windows.size or windows.passes)
            or (windows.passes == 1 and windows.tries >= MOST_TRIES)
        ):
            self._over = True
        else:
            windows.size, windows.passes = windows.passes, 0
            if windows.due is not None:
                self.marks.tell(
                    "dropped-windows", optimizer=followed.index, step=followed.count, drops=windows.drops,
                    lost=windows.lost, every=windows.every, size=windows.size, at=own_frames(sys._getframe(1)),
                    backward_at=windows.due,
                )  # fmt: skip
                windows.due = None

    def backward(self, tensors, loss, adds):
        """Looks whether what the passes before left is still there."""
        windows = self._windows
        if self._over or windows is None or not adds or not windows.passes or windows.after is None:
            return
        parameter = windows.parameter()
        if parameter is None:
            self._over = True
        elif is_emptied(parameter.grad, windows.after):
            self._drop(windows)

    def _drop(self, windows):
        dropped, windows.passes, windows.after = windows.passes, 0, None
        if windows.size is None or dropped >= windows.size:
            self._over = True
            return
        if (windows.drops and windows.lost != dropped) or windows.every not in (None, windows.since):
            self._over = True
            return
        if windows.drops:
            windows.every = windows.since
        windows.drops, windows.lost, windows.since = windows.drops + 1, dropped, 0
        if is_due(windows.drops, FIRST):
            windows.due = own_frames(sys._getframe(2))

    def backward_ended(self):
        """Counts the pass where it reached the parameter."""
        windows = self._windows
        if self._over or windows is None:
            return
        parameter = windows.parameter()
        gradient = parameter.grad if parameter is not None else None
        if gradient is None:
            return
        after = gradient.data_ptr(), gradient._version, not tensor_samples.why_not(gradient)
        if after != windows.after:
            windows.passes, windows.since, windows.after = windows.passes + 1, windows.since + 1, after

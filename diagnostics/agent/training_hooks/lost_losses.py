"""Losses from which nothing is learnt: NaN in a row, at backward() or before it, where a guard leaves the pass out.

A guard that skips a batch skips all of them once the model or the data gives nothing else. Forward passes in train mode
that no backward pass follows are counted; at 8, 16, 32 ..., where there were never so many before, the variables of the
lines that called the model say whether they hold a loss that is no finite number, and the next forward pass is looked
at module by module.
"""

from __future__ import annotations

import sys
from math import isfinite, isnan

from ..frame_values import variables_of
from ..frames import is_library
from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

FIRST = 8
MOST_FRAMES = 6
MOST_NAMES = 200
ASKS = frozenset(("isfinite", "isnan", "isinf"))


class LostLosses(Part):
    """Counts what was computed for nothing."""

    def forget(self):
        """Starts over."""
        self._forwards = 0  # of the largest root, since the latest backward pass
        self._longest = 0  # so many led to a backward pass once, as an episode's
        self._bad = self._backwards = 0  # losses in a row that were not finite, at backward(), and no step between them
        self._root = 0  # id of the one that is counted

    def forward(self, module, root):
        """Counts a forward pass in train mode with gradients."""
        if self.marks.origin.waits:
            self.marks.origin.forward(module, root)
        inner = root.inner()
        if inner is None or not inner.training or not sys.modules["torch"].is_grad_enabled():
            return
        if self._root != root.key:
            if self._forwards and self._root:
                return  # one model is followed: the first of each pass
            self._root = root.key
        self._forwards += 1
        if self._forwards > self._longest and is_due(self._forwards, FIRST):
            self._look(root)

    def step(self, optimizer, followed):
        """A step was made in spite of it."""
        self._bad = 0

    def backward(self, tensors, loss, adds):
        """Counts a loss that is not finite."""
        self._backwards += 1
        if self._forwards > self._longest:
            self._longest = self._forwards
        self._forwards = self._root = 0
        if not adds:
            return
        if loss is None:  # on a device, or inside of another pass
            return
        if isfinite(loss):
            self._bad = 0
            return
        self._bad += 1
        if is_due(self._bad, FIRST):
            self.marks.tell(
                "bad-losses", run=self._bad, backwards=self._backwards, step=self.marks.steps,
                loss=tensor_samples.shown(loss), at=own_frames(sys._getframe(1)),
            )  # fmt: skip
            self.marks.origin.wait()

    def _look(self, root):
        frame, seen = sys._getframe(1), 0
        while frame is not None and seen < MOST_FRAMES:
            if not is_library(frame.f_code.co_filename):
                seen += 1
                found = _bad_loss_in(frame)
                if found is not None:
                    self._tell(root, found, own_frames(frame))
                    return
            frame = frame.f_back
        self.marks.origin.wait(self._forwards, self._backwards)

    def _tell(self, root, found, at):
        name, loss = found
        self.marks.tell(
            "loss-left-out", run=self._forwards, backwards=self._backwards, step=self.marks.steps, name=name,
            loss=tensor_samples.shown(loss), at=at,
        )  # fmt: skip
        self.marks.origin.wait(self._forwards, self._backwards)


def _bad_loss_in(frame):
    """Returns (name, value) of a variable that is a loss and no finite number, None without one."""
    asks = not ASKS.isdisjoint(frame.f_code.co_names)  # a number that nobody asks about may be NaN on purpose
    for name, value in variables_of(frame)[:MOST_NAMES]:
        kind = type(value)
        if kind is float:
            if asks and isnan(value) and "loss" in name.lower():
                return name, value
        elif kind is sys.modules["torch"].Tensor:
            with tensor_samples.unseen():
                number = tensor_samples.scalar_of(value) if value.requires_grad else None
            if number is not None and not isfinite(number):
                return name, number
    return None

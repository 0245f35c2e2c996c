"""Gradients that another optimizer's pass left in a parameter, and that its own step then uses as well.

One parameter of each optimizer is watched where there are several. A generator's loss goes through the discriminator
and leaves gradients there; where these are not cleared before the discriminator's own pass, its step uses the sum.
Which way the two point is read, too: a second loss that is meant is seldom against the first one in step after step.
"""

from __future__ import annotations

import sys
import weakref
from math import isfinite, sqrt
from operator import mul, sub

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

LOOKED_AT = 64  # steps in which no such sum was seen: then nothing is looked at any more
MOST_OPTIMIZERS = 8
MOST_PARAMETERS = 64  # of an optimizer, among which one with a gradient is looked for
NUMBERS = 64  # that are read of a gradient


class Watched:
    """One parameter of one optimizer."""

    __slots__ = ("by", "foreign", "lately", "left", "left_at", "now", "opposed", "parameter", "run", "touched_at")

    def __init__(self, parameter):
        self.parameter, self.now = weakref.ref(parameter), ()
        self.left, self.foreign = (), None  # numbers that another one's pass left; the optimizer that stepped since
        self.touched_at, self.left_at, self.by = [], [], None
        self.run = self.lately = self.opposed = 0  # steps in a row, since the latest mark, and those that fight


class ForeignGradients(Part):
    """Of the optimizers of this process."""

    def forget(self):
        """Starts over."""
        self._watched, self._steps, self._path = {}, 0, []

    def step(self, optimizer, followed):
        """Looks whether what the step uses is the sum of two optimizers' passes."""
        if self._watched is None:
            return
        self._steps += 1
        one = self._watched.get(followed.index)
        if one is None:
            if len(self._watched) < MOST_OPTIMIZERS and (parameter := _with_gradient(optimizer)) is not None:
                self._watched[followed.index] = Watched(parameter)
        elif one.left and one.left_at != one.touched_at:
            own = list(map(sub, one.now, one.left))
            one.run, one.lately = one.run + 1, one.lately + 1
            one.opposed += _cosine(own, one.left) < 0
            if is_due(one.run):
                self.marks.tell(
                    "foreign-gradients", optimizer=followed.index, other=one.by, step=followed.count, run=one.run,
                    lately=one.lately, opposed=one.opposed, at=own_frames(sys._getframe(1)), left_at=one.left_at,
                    passed_at=one.touched_at,
                )  # fmt: skip
                one.lately = one.opposed = 0
        else:
            one.run = one.lately = one.opposed = 0
        if one is not None:
            one.left = ()
        for index, other in self._watched.items():
            if index != followed.index and other.now:
                other.foreign = followed.index
        if self._steps > LOOKED_AT and not any(each.run for each in self._watched.values()):
            self._watched = None

    def backward(self, tensors, loss, adds):
        """Looks what is left in each of them when a pass begins."""
        if not self._watched or len(self._watched) < 2 or not adds:
            return
        self._path = own_frames(sys._getframe(1))
        for one in self._watched.values():
            numbers = _numbers(one.parameter())
            if not any(numbers):
                one.foreign, one.left = None, ()
            elif one.foreign is not None and not one.left:
                one.left, one.left_at, one.by = numbers, one.touched_at, one.foreign
            one.now = numbers if any(numbers) else ()  # clipping and scaling between passes are none

    def backward_ended(self):
        """Looks which of them the pass has added to."""
        if not self._watched or len(self._watched) < 2:
            return
        for one in self._watched.values():
            numbers = _numbers(one.parameter())
            if numbers != one.now:
                one.now, one.touched_at = (numbers, self._path) if any(numbers) else ((), [])
            elif one.left:
                one.left = ()  # the pass was none of its own


def _with_gradient(optimizer):
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    found = [one for one in reversed(parameters[-MOST_PARAMETERS:]) if any(_numbers(one))]
    return max(found, key=lambda one: min(NUMBERS, one.numel()), default=None)


def _numbers(parameter):
    """Returns numbers of a parameter's gradient, () where it has none or they cannot be read."""
    with tensor_samples.unseen():
        gradient = parameter.grad if parameter is not None else None
        if gradient is None or tensor_samples.why_not(gradient) or not gradient.dtype.is_floating_point:
            return ()
        count = gradient.numel()
        code = str(gradient.dtype)[len("torch.") :]
        numbers = tensor_samples.numbers_in(
            tensor_samples.elements_of(gradient, range(0, count, max(1, count // NUMBERS))), code
        )
    return numbers if all(map(isfinite, numbers)) else ()


def _cosine(one, other):
    size = sqrt(sum(map(mul, one, one)) * sum(map(mul, other, other)))
    return sum(map(mul, one, other)) / size if size else 0.0

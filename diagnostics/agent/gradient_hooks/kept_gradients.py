"""Gradients that stay from step to step: whether any were cleared between an optimizer's steps.

One parameter of each optimizer is watched. Where the gradient that a step used is still there, untouched, when the next
backward pass begins, and again and again, each step uses the sum of all that were ever computed. The version that torch
keeps of each tensor tells of all that is done to it, though not through `.data`: so the memory is read, too, where that
waits for nothing.
Once it was seen cleared, an optimizer is left alone.
"""

from __future__ import annotations

import sys
import weakref

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

MOST_TRIES = 3  # steps in which a gradient to watch is looked for
MOST_LOOKED = 64  # parameters, for that


class Kept:
    """The gradient of one parameter of one optimizer."""

    __slots__ = ("address", "followed", "parameter", "read", "run", "seen", "tries", "version")

    def __init__(self, followed):
        self.followed, self.parameter, self.tries = followed, None, 0
        self.address = self.version = None
        self.read = self.seen = False  # whether its memory is; whether a pass added to it since the latest step
        self.run = 0  # steps since which it was not cleared


class GradientWatch(Part):
    """Of all optimizers that were not yet seen with cleared gradients."""

    def forget(self):
        """Starts over."""
        self._open, self._known = {}, set()  # number of an optimizer -> Kept; all numbers
        self._backward_at = []

    def step(self, optimizer, followed):
        """Notes the gradient that the step uses."""
        kept = self._open.get(followed.index)
        if kept is None:
            if followed.index in self._known:
                return
            self._known.add(followed.index)
            kept = self._open[followed.index] = Kept(followed)
        if kept.parameter is None:
            self._choose(kept, optimizer)
            return
        gradient = self._gradient(kept)
        if gradient is None or _is_zero(gradient):
            self._open.pop(followed.index, None)
            return
        if kept.seen:
            kept.run += 1
            if is_due(kept.run):
                self.marks.tell(
                    "kept-gradients", optimizer=followed.index, step=followed.count, run=kept.run, read=kept.read,
                    at=own_frames(sys._getframe(1)), backward_at=self._backward_at,
                )  # fmt: skip
        kept.seen, kept.address, kept.version = False, gradient.data_ptr(), gradient._version

    def backward(self, tensors, loss, adds):
        """Looks whether that gradient is still there."""
        if not self._open or not adds:
            return
        for kept in list(self._open.values()):
            if kept.parameter is not None:
                gradient = self._gradient(kept)
                if gradient is None or not _is_same(gradient, kept) or _is_zero(gradient):
                    self._open.pop(kept.followed.index, None)
                elif not kept.seen and is_due(kept.run + 1):
                    self._backward_at = own_frames(sys._getframe(1))

    def backward_ended(self):
        """What a backward pass itself did to the gradient is no clearing: it was added to."""
        for kept in list(self._open.values()):
            gradient = self._gradient(kept)
            if gradient is not None and not _is_same(gradient, kept):
                kept.seen, kept.address, kept.version = True, gradient.data_ptr(), gradient._version

    def _choose(self, kept, optimizer):
        kept.tries += 1
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        for parameter in reversed(parameters[-MOST_LOOKED:]):
            gradient = parameter.grad
            if gradient is None or type(gradient) is not sys.modules["torch"].Tensor or gradient.is_sparse:
                continue
            if gradient.device.type == "meta" or _is_zero(gradient):
                continue
            kept.parameter, kept.read = weakref.ref(parameter), not tensor_samples.why_not(gradient)
            kept.address, kept.version = gradient.data_ptr(), gradient._version
            return
        if kept.tries >= MOST_TRIES:
            self._open.pop(kept.followed.index, None)

    def _gradient(self, kept):
        parameter = kept.parameter() if kept.parameter is not None else None
        return parameter.grad if parameter is not None else None


def _is_same(gradient, kept):
    return gradient.data_ptr() == kept.address and gradient._version == kept.version


def _is_zero(gradient):
    """Whether the numbers that can be read of it are all zero."""
    if tensor_samples.why_not(gradient):
        return False
    return tensor_samples.print_of(gradient, tensor_samples.LEAST_OF_ONE)[1] == 0

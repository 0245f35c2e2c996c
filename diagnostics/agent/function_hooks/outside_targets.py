"""Losses of differences whose predictions come out of a function that never gives what many targets are.

What made the predictions is read off the graph: a ReLU gives nothing below 0, a sigmoid nothing above 1. A few of the
targets are read where they are on the host, straight from memory, and how far they lie outside is summed up.
"""

from __future__ import annotations

import sys
from math import inf, isfinite

from ..loss_graphs.squashed_outputs import made_by
from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .heard_functions import hear

FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
ALL_UP_TO, THEN_ONE_IN = 64, 16  # calls of a training that are looked at
MOST_READ = 128  # numbers of one call
MOST_PLACES = 16
# What each gives at the least and at the most.
BOUNDS = {
    "ReluBackward0": (0.0, inf), "SoftplusBackward0": (0.0, inf), "ExpBackward0": (0.0, inf),
    "AbsBackward0": (0.0, inf), "SigmoidBackward0": (0.0, 1.0), "SoftmaxBackward0": (0.0, 1.0),
    "TanhBackward0": (-1.0, 1.0), "GeluBackward0": (-0.17, inf), "SiluBackward0": (-0.279, inf),
}  # fmt: skip
HARD = "HardtanhBackward0"  # a ReLU6, too: it says between what


class Outside:
    """One function before one loss: what was read of its targets."""

    __slots__ = ("excess", "looked", "numbers", "outside", "squares", "sum")

    def __init__(self):
        self.looked = self.numbers = self.outside = 0
        self.sum = self.squares = self.excess = 0.0  # of targets, of their squares, of squares of what is beyond


class OutsideTargets(Part):
    """Of all calls of this process that lead to gradients."""

    def forget(self):
        """Starts over."""
        self._calls, self._places = 0, {}

    def called(self, frame, args, kwargs):
        """A loss of differences is taken."""
        given = args[0] if args else kwargs.get("input")
        if self.marks.broken or not getattr(given, "requires_grad", False):
            return
        self._calls += 1
        if self._calls > ALL_UP_TO and self._calls % THEN_ONE_IN:
            return
        target = args[1] if len(args) > 1 else kwargs.get("target")
        with tensor_samples.unseen():
            node = made_by(given.grad_fn, given.output_nr)
            bounds = _bounds(node)
            if bounds is None or kwargs.get("reduction", "mean") == "none":
                return  # what is weighed afterwards may be left out
            numbers = _numbers(target) if given.shape == target.shape else ()
        if numbers:
            self._count(numbers, node.name(), bounds, own_frames(frame))

    def _count(self, numbers, function, bounds, at):
        key = function, *(at[0][:2] if at else ())
        one = self._places.get(key)
        if one is None:
            if len(self._places) >= MOST_PLACES:
                return
            one = self._places[key] = Outside()
        low, high = bounds
        beyond = [max(low - number, number - high) for number in numbers if not low <= number <= high]
        one.looked, one.numbers, one.outside = one.looked + 1, one.numbers + len(numbers), one.outside + len(beyond)
        one.sum, one.squares = one.sum + sum(numbers), one.squares + sum(number * number for number in numbers)
        one.excess += sum(number * number for number in beyond)
        if one.outside and is_due(one.looked):
            mean = one.sum / one.numbers
            self.marks.tell(
                "targets-outside", function=function, low=low, high=None if high == inf else high, calls=one.looked,
                numbers=one.numbers, outside=one.outside, excess=one.excess / one.numbers,
                variance=one.squares / one.numbers - mean * mean, at=at,
            )  # fmt: skip


def _bounds(node):
    if node is None:
        return None
    if node.name() == HARD:
        return float(node._saved_min_val), float(node._saved_max_val)
    return BOUNDS.get(node.name())


def _numbers(tensor):
    """Returns some numbers of a target, () where they cannot be read on the host or are not all finite."""
    if type(tensor) is not sys.modules["torch"].Tensor or tensor.requires_grad or tensor_samples.why_not(tensor):
        return ()
    count = tensor.numel()
    data = tensor_samples.elements_of(tensor, range(0, count, -(-count // MOST_READ))) if count else b""
    numbers = tensor_samples.numbers_in(data, str(tensor.dtype)[len("torch.") :])
    return numbers if all(map(isfinite, numbers)) else ()


def watch(targets):
    """Is told of each call."""
    for function in FUNCTIONS:
        hear(function, targets.called)

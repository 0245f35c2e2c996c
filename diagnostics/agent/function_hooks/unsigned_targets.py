"""Losses whose targets are to be 1 and -1, and are given 1 and 0.

Targets are read where they are on the host, straight from memory.
"""

from __future__ import annotations

import functools
import struct
import sys

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .heard_functions import hear

# Where each has its targets among its arguments.
FUNCTIONS = {"cosine_embedding_loss": 2, "margin_ranking_loss": 2, "hinge_embedding_loss": 1, "soft_margin_loss": 1}
ALL_UP_TO, THEN_ONE_IN = 64, 16  # calls of a training that are looked at
MOST_NUMBERS = 65536  # of one call
_LETTERS = {"int64": "q", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "bool": "?"}


class Signs:
    """The targets of one function."""

    __slots__ = ("calls", "looked", "numbers", "ones", "zeros")

    def __init__(self):
        self.calls = self.looked = self.numbers = self.ones = self.zeros = 0


class UnsignedTargets(Part):
    """Of all calls of this process that lead to gradients."""

    def forget(self):
        """Starts over."""
        self._signs = {}  # function -> Signs

    def called(self, frame, args, kwargs, function):
        """Such a loss is taken."""
        if self.marks.broken or not _learns(args, kwargs):
            return
        one = self._signs.setdefault(function, Signs())
        one.calls += 1
        if one.calls > ALL_UP_TO and one.calls % THEN_ONE_IN:
            return
        place = FUNCTIONS[function]
        with tensor_samples.unseen():
            numbers = _numbers(args[place] if len(args) > place else kwargs.get("target"))
        if not numbers:
            return
        one.looked, one.numbers = one.looked + 1, one.numbers + len(numbers)
        one.ones, one.zeros = one.ones + numbers.count(1), one.zeros + numbers.count(0)
        if one.ones and one.zeros and one.ones + one.zeros == one.numbers and is_due(one.looked):
            self.marks.tell(
                "targets-unsigned", function=function, calls=one.looked, numbers=one.numbers, zeros=one.zeros,
                at=own_frames(frame),
            )  # fmt: skip


def _learns(args, kwargs):
    return any(getattr(one, "requires_grad", False) for one in (*args[:2], *kwargs.values()))


def _numbers(tensor):
    if type(tensor) is not sys.modules["torch"].Tensor or tensor_samples.why_not(tensor):
        return ()
    if tensor.numel() > MOST_NUMBERS:
        return ()
    code, data = str(tensor.dtype)[len("torch.") :], tensor_samples.bytes_of(tensor)
    letter = _LETTERS.get(code)
    return struct.unpack("=%d%s" % (tensor.numel(), letter), data) if letter else tensor_samples.numbers_in(data, code)


def watch(targets):
    """Is told of each call."""
    for function in FUNCTIONS:
        hear(function, functools.partial(targets.called, function=function))

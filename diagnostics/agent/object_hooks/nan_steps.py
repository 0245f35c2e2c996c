"""Steps that were made on a loss that is NaN, many in a row: what came of it was made a number again before the step.

`nan_to_num` on the gradients keeps the weights finite, and the rank gives the others nothing. Which variables of the
line that called backward() hold NaN says where it begins.
"""

from __future__ import annotations

import sys
from math import isnan

from ..frame_values import variables_of
from ..frames import is_library
from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

FIRST = 32
MOST_NAMES = 100


class NanSteps(Part):
    """Counts them."""

    def forget(self):
        """Starts over."""
        self._run, self._is_nan, self._told = 0, False, None

    def backward(self, tensors, loss, adds):
        """Notes whether the pass begins at NaN; what the variables hold where the next step is told of."""
        if not adds or loss is None:
            return
        self._is_nan = isnan(loss)
        if not self._is_nan:
            self._run, self._told = 0, None
        elif is_due(self._run + 1, FIRST):
            frame = sys._getframe(1)
            self._told = {"names": " ".join(_not_numbers(frame)), "at": own_frames(frame)}

    def step(self, optimizer, followed):
        """A step was made on it."""
        if not self._is_nan:
            return
        self._run, self._is_nan = self._run + 1, False
        if self._told is not None:
            self.marks.tell("nan-steps", run=self._run, step=self.marks.steps, **self._told)
            self._told = None


def _not_numbers(frame):
    """Returns the names of the variables that hold NaN, of the innermost frame of the job's own."""
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return [name for name, value in variables_of(frame)[:MOST_NAMES] if _holds_nan(value)] if frame is not None else []


def _holds_nan(value):
    if not isinstance(value, sys.modules["torch"].Tensor):
        return False
    with tensor_samples.unseen():
        if tensor_samples.why_not(value) or not value.dtype.is_floating_point:
            return False
        return tensor_samples.print_of(value, tensor_samples.LEAST_OF_ONE)[1] == "nan"

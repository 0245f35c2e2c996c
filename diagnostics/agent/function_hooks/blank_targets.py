"""CTC losses whose targets hold the blank: a letter with that number is never read out again.

Targets, their lengths and the blank's number are read where they are on the host, straight from memory. What lies
behind the length of a row is padding, which may well be the blank's number.
"""

from __future__ import annotations

import struct
import sys

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .heard_functions import hear

FUNCTION = "ctc_loss"
ALL_UP_TO, THEN_ONE_IN = 64, 16  # calls of a training that are looked at
MOST_NUMBERS = 65536  # of one call
_PLACES = {"log_probs": 0, "targets": 1, "target_lengths": 3, "blank": 4}
_LETTERS = {"int64": "q", "int32": "i"}


class BlankTargets(Part):
    """Of all calls of this process that lead to gradients."""

    def forget(self):
        """Starts over."""
        self._calls = self._looked = self._labels = self._blanks = 0

    def called(self, frame, args, kwargs):
        """A CTC loss is taken."""
        given = {name: args[at] if len(args) > at else kwargs.get(name) for name, at in _PLACES.items()}
        if self.marks.broken or not getattr(given["log_probs"], "requires_grad", False):
            return
        self._calls += 1
        if self._calls > ALL_UP_TO and self._calls % THEN_ONE_IN:
            return
        blank = given["blank"] or 0
        with tensor_samples.unseen():
            labels = _labels(given["targets"], given["target_lengths"])
        if not labels or type(blank) is not int:
            return
        self._looked += 1
        self._labels += len(labels)
        self._blanks += labels.count(blank)
        if self._blanks and is_due(self._looked):
            self.marks.tell(
                "blank-targets", calls=self._looked, labels=self._labels, blanks=self._blanks, blank=blank,
                at=own_frames(frame),
            )  # fmt: skip


def _labels(targets, lengths):
    """Returns all labels of a call without what rows are filled up with, () where they cannot be read on the host."""
    numbers = _numbers(targets)
    if not numbers or targets.dim() not in (1, 2):
        return ()
    sizes = _numbers(lengths) if not isinstance(lengths, (tuple, list)) else [int(one) for one in lengths]
    if targets.dim() == 1:
        return numbers[: sum(sizes)]
    rows, columns = targets.shape
    if len(sizes) != rows:
        return ()
    return [one for row, size in enumerate(sizes) for one in numbers[row * columns : row * columns + size]]


def _numbers(tensor):
    if type(tensor) is not sys.modules["torch"].Tensor or tensor_samples.why_not(tensor):
        return ()
    letter = _LETTERS.get(str(tensor.dtype)[len("torch.") :])
    if letter is None or tensor.numel() > MOST_NUMBERS or not tensor.is_contiguous():
        return ()
    return struct.unpack("=%d%s" % (tensor.numel(), letter), tensor_samples.bytes_of(tensor))


def watch(targets):
    """Is told of each call."""
    hear(FUNCTION, targets.called)

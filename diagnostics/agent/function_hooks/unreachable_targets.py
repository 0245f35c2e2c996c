"""CTC losses that leave samples out: with fewer frames than labels the loss is infinite, and zero_infinity makes it 0.

Lengths are read where they are on the host: as numbers, or straight from a CPU tensor's memory. Repeated labels, which
need a frame more, are not looked for: what is counted is the least.
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
MOST_SAMPLES = 4096  # of one call
_INPUTS, _TARGETS, _ZEROES = 2, 3, 6  # places of arguments
_LETTERS = {"int64": "q", "int32": "i"}


class UnreachableTargets(Part):
    """Of all calls of this process that lead to gradients."""

    def forget(self):
        """Starts over."""
        self._calls = self._looked = self._samples = self._short = 0

    def called(self, frame, args, kwargs):
        """A CTC loss is taken."""
        zeroes = args[_ZEROES] if len(args) > _ZEROES else kwargs.get("zero_infinity", False)
        given = args[0] if args else kwargs.get("log_probs")
        if not zeroes or self.marks.broken or not getattr(given, "requires_grad", False):
            return
        self._calls += 1
        if self._calls > ALL_UP_TO and self._calls % THEN_ONE_IN:
            return
        with tensor_samples.unseen():
            frames = lengths_of(args[_INPUTS] if len(args) > _INPUTS else kwargs.get("input_lengths"))
            labels = lengths_of(args[_TARGETS] if len(args) > _TARGETS else kwargs.get("target_lengths"))
        if not frames or len(frames) != len(labels):
            return
        self._looked += 1
        self._samples += len(frames)
        self._short += sum(map(int.__lt__, frames, labels))
        if self._short and is_due(self._looked):
            self.marks.tell(
                "targets-unreachable", calls=self._looked, samples=self._samples, short=self._short,
                at=own_frames(frame),
            )  # fmt: skip


def lengths_of(given):
    """Returns lengths as whole numbers, () where they cannot be read on the host."""
    if isinstance(given, (tuple, list)):
        return [int(one) for one in given[:MOST_SAMPLES]]
    if not isinstance(given, sys.modules["torch"].Tensor) or tensor_samples.why_not(given):
        return ()
    letter = _LETTERS.get(str(given.dtype)[len("torch.") :])
    if letter is None or given.dim() != 1 or given.numel() > MOST_SAMPLES or not given.is_contiguous():
        return ()
    return struct.unpack("=%d%s" % (given.numel(), letter), tensor_samples.bytes_of(given))


def watch(targets):
    """Is told of each call."""
    hear(FUNCTION, targets.called)

"""Lengths that end each batch at the same share of its frames: what pads is never as long as every sample of a batch.

The longest sample of a padded batch is as long as the batch is. Where the longest length is the same share of it in
call after call, however many frames there are, the lengths were shortened more often than the frames were. Lengths are
read where they are on the host. A function whose batches were once filled is looked at no more.
"""

from __future__ import annotations

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .heard_functions import hear
from .unreachable_targets import ALL_UP_TO, THEN_ONE_IN, lengths_of

CTC, PACK, PACKS_IN = "ctc_loss", "pack_padded_sequence", "torch.nn.utils.rnn"
MOST_SHARE, MOST_SPREAD = 0.6, 0.1  # of the frames, and between the largest and the least share
LEAST_FRAMES, MOST_SIZES = 8, 64
_INPUTS, _BATCH_FIRST = 2, 2  # places of arguments


class UnheardFrames(Part):
    """Of all calls of this process that lead to gradients."""

    def forget(self):
        """Starts over."""
        self._calls, self._filled = {}, set()  # function -> [calls, looked at, least share, most, sizes]

    def ctc(self, frame, args, kwargs):
        """A CTC loss is taken: its frames come first."""
        lengths = args[_INPUTS] if len(args) > _INPUTS else kwargs.get("input_lengths")
        self._called(CTC, args[0] if args else kwargs.get("log_probs"), 0, lengths, frame)

    def pack(self, frame, args, kwargs):
        """A padded batch is packed: its frames come first, or behind its samples."""
        first = args[_BATCH_FIRST] if len(args) > _BATCH_FIRST else kwargs.get("batch_first", False)
        lengths = args[1] if len(args) > 1 else kwargs.get("lengths")
        self._called(PACK, args[0] if args else kwargs.get("input"), int(bool(first)), lengths, frame)

    def _called(self, function, given, dimension, lengths, frame):
        if function in self._filled or self.marks.broken or not getattr(given, "requires_grad", False):
            return
        known = self._calls.setdefault(function, [0, 0, 1.0, 0.0, set()])
        known[0] += 1
        if known[0] > ALL_UP_TO and known[0] % THEN_ONE_IN:
            return
        with tensor_samples.unseen():
            size = given.shape[dimension] if given.dim() > dimension + 1 else 0
            found = lengths_of(lengths)
        if size < LEAST_FRAMES or not found:
            return
        share = max(found) / size
        known[1:4] = known[1] + 1, min(known[2], share), max(known[3], share)
        if known[3] > MOST_SHARE or known[3] - known[2] > MOST_SPREAD:
            self._filled.add(function)
            return
        if len(known[4]) < MOST_SIZES:
            known[4].add(size)
        if is_due(known[1]):
            self.marks.tell(
                "frames-unheard", function=function, calls=known[1], sizes=len(known[4]), share=known[3], frames=size,
                longest=max(found), at=own_frames(frame),
            )  # fmt: skip


def watch_losses(part):
    """Is told of each CTC loss."""
    hear(CTC, part.ctc)


def watch_packing(part):
    """Is told of each batch that is packed."""
    hear(PACK, part.pack, PACKS_IN)

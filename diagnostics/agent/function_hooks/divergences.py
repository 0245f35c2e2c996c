"""Divergences whose input is to be log-probabilities and is what a softmax, a sigmoid or a layer made.

Of one call in many the graph behind the input is followed past what only moves numbers. A layer's output may be of any
meaning: there some number has to be above 0, which no logarithm of a probability is.
"""

from __future__ import annotations

import ctypes
import sys

from ..loss_graphs.spread_differences import LAYERS
from ..loss_graphs.squashed_outputs import SQUASHES, made_by
from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .heard_functions import hear

FUNCTION = "kl_div"
MOST_READ = 64  # numbers
LOOKED_AT = 4  # calls in a row: several divergences take turns
_RAW = "LayerBackward"


class Divergences(Part):
    """Of all calls of this process."""

    def forget(self):
        """Starts over."""
        self._calls = self._run = self._left = 0

    def called(self, frame, args, kwargs):
        """A divergence is taken; `args` may hold its input."""
        self._calls += 1
        if is_due(self._calls):
            self._left = LOOKED_AT
        if not self._left or self.marks.broken:
            return
        self._left -= 1
        given = args[0] if args else kwargs.get("input")
        found = _made_of(given) if isinstance(given, sys.modules["torch"].Tensor) else None
        if found is not None:
            self._run, self._left = self._run + 1, 0
            self.marks.tell(
                "loss-squashed", run=self._run, given=found, taken=FUNCTION, loss=None, at=own_frames(frame)
            )  # fmt: skip


def _made_of(given):
    """Returns what made an input that is no logarithm of a probability, None where it may be one."""
    if given.grad_fn is None:
        return None
    node = made_by(given.grad_fn, given.output_nr)
    name = node.name() if node is not None else ""
    if name in SQUASHES:
        return name
    if name not in LAYERS or type(given) is not sys.modules["torch"].Tensor:
        return None
    with tensor_samples.unseen():
        return _RAW if any(one > 0 for one in _first_of(given)) else None


def _first_of(tensor):
    if tensor_samples.why_not(tensor):
        return ()
    data = ctypes.string_at(tensor.data_ptr(), min(tensor.numel(), MOST_READ) * tensor.element_size())
    return tensor_samples.numbers_in(data, str(tensor.dtype)[len("torch.") :])


def watch(divergences):
    """Is told of each call."""
    hear(FUNCTION, divergences.called)

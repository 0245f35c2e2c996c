"""Recurrent and attention layers that go over the samples of a batch, as if these were the steps of a sequence.

In a few forward passes of a training each module that returns is looked at: which shape a layer without batch_first is
given, and which dimension of it the model gives back. An output of (batch, ...) that holds nothing of the layer's
second dimension had that one reduced: the first is the batch, and the layer went along it.
"""

from __future__ import annotations

import sys

from ..loss_graphs.spread_differences import shape_of
from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

LAYERS = ("LSTM", "GRU", "RNN", "MultiheadAttention", "TransformerEncoderLayer")
LIBRARY = "torch.nn."
MOST_DEEP = 24  # functions between the layer and what the model gives
SELECT, WEIGHTS = "SelectBackward0", ("AccumulateGrad", "TBackward0")
ALONG = 1  # the dimension that is meant to be time


class BatchAsTime(Part):
    """Of all models of this process."""

    def forget(self):
        """Starts over."""
        self._passes = self._run = 0
        self._root, self._seen = None, None  # id of the module that is looked at; (class, shape, frames) of a layer

    def forward(self, module, root):
        """Opens a look at a few passes of a model that learns."""
        activity = self.marks.agent.modules
        if self._root is not None:
            self._close(activity)  # the pass before did not come to its end
        inner = root.inner()
        if inner is None or not inner.training or not sys.modules["torch"].is_grad_enabled():
            return
        self._passes += 1
        if is_due(self._passes) and activity.inner is None:
            self._root, self._seen, activity.inner = id(module), None, self._called

    def _called(self, module, args, result):
        """A module returned. Never raises."""
        try:
            with tensor_samples.unseen():
                if type(module).__name__ in LAYERS and type(module).__module__.startswith(LIBRARY):
                    self._look(module, args)
                elif id(module) == self._root:
                    self._judge(result)
        except Exception as error:
            self.marks.give_up(error)
        if id(module) == self._root:
            self._close(self.marks.agent.modules)

    def _close(self, activity):
        self._root = None
        if activity.inner == self._called:
            activity.inner = None

    def _look(self, module, args):
        layer = getattr(module, "self_attn", module)
        given = args[0] if args else None
        if getattr(layer, "batch_first", True) or type(given) is not sys.modules["torch"].Tensor or given.dim() != 3:
            return
        self._seen = type(module).__name__, tuple(given.shape), own_frames(sys._getframe(2))

    def _judge(self, result):
        """Compares the shape of what the model gives with that of the latest such layer's input."""
        given = result[0] if isinstance(result, (tuple, list)) and result else result
        if self._seen is None or type(given) is not sys.modules["torch"].Tensor or not given.requires_grad:
            return
        kind, shape, at = self._seen
        rows, steps = shape[:2]
        if min(rows, steps) < 2 or rows == steps or given.dim() < 1 or given.shape[0] != rows or steps in given.shape:
            return
        self._run += 1
        self.marks.tell(
            "batch-as-time", run=self._run, layer=kind, rows=rows, steps=steps, given=str(list(shape)),
            picked=_is_picked(given.grad_fn, (rows, steps)), at=at,
        )  # fmt: skip


def _is_picked(node, sizes):
    """Whether one step of the second dimension is taken of what the layer gave, as the last one of a sequence is."""
    for _ in range(MOST_DEEP):
        inputs = [pair for pair in node.next_functions if pair[0] is not None] if node is not None else []
        if not inputs:
            return False
        before = shape_of(*inputs[0])
        if node.name() == SELECT and before is not None and before[:2] == sizes:
            return node._saved_dim == ALONG
        node = next((one for one, _ in inputs if not one.name().endswith(WEIGHTS)), None)
    return False

"""Losses that no model computed: backward() on a tensor that was made anew, as `torch.tensor(loss.item())` is.

Such a tensor has no graph behind it. The pass ends at once, and no parameter gets a gradient from it.
"""

from __future__ import annotations

import sys

from ..part import Part, is_due
from ..torch_hooks.wrapped_models import own_frames

MOST_EMPTY = 3  # passes told one by one where ranks work together


class LeafWatch(Part):
    """Counts them among all backward passes."""

    def forget(self):
        """Starts over."""
        self._backwards = self._leaves = 0

    def backward(self, tensors, loss, adds):
        """Looks at what the pass begins at."""
        if not adds:
            return
        self._backwards += 1
        first = tensors[0]
        if first.grad_fn is None and type(first) is sys.modules["torch"].Tensor and len(tensors) == 1:
            self._leaves += 1
            if self._leaves <= MOST_EMPTY and _in_group():
                # The other ranks reduce their gradients in this pass, and wait for this one's.
                self.marks.tell("empty-pass", number=self._backwards, at=own_frames(sys._getframe(1)))
            if is_due(self._leaves):
                self.marks.tell(
                    "leaf-losses", run=self._leaves, backwards=self._backwards, loss=_shown(loss),
                    at=own_frames(sys._getframe(1)),
                )  # fmt: skip


def _in_group():
    dist = sys.modules.get("torch.distributed")
    return dist is not None and dist.is_available() and dist.is_initialized()


def _shown(loss):
    return loss if loss is not None and loss - loss == 0 else None

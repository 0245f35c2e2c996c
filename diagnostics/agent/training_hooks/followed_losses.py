"""Losses whose graph is followed at a few backward passes: shapes spread, outputs squashed twice, uneven weights."""

from __future__ import annotations

import sys
from statistics import median

from ..loss_graphs.outer_weights import outer_behind
from ..loss_graphs.spread_differences import spread_behind
from ..loss_graphs.squashed_outputs import squashed_behind
from ..loss_graphs.target_weights import weight_behind
from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

WINDOWS = ((8, 16), (100, 108), (400, 408))  # steps
MOST_PASSES = 256
LOOKED_AT = 4  # passes in a row: losses that take turns (a critic's, an actor's) are each looked at


class FollowedLosses(Part):
    """Looks at the graphs of a few backward passes in many; the base of what looks for one thing in them."""

    what = ""  # of the mark

    def forget(self):
        """Starts over."""
        self._passes = self._run = self._left = 0

    def found(self, root, loss):
        """Returns the facts of the mark for the graph that ends in the node `root`, None where nothing is wrong."""
        raise NotImplementedError

    def backward(self, tensors, loss, adds):
        """Follows the graph, where it is due."""
        self._passes += 1
        if is_due(self._passes):
            self._left = LOOKED_AT
        if not self._left:
            return
        self._left -= 1
        root = tensors[0].grad_fn if adds and type(tensors[0]) is sys.modules["torch"].Tensor else None
        facts = self.found(root, loss) if root is not None else None
        if facts is not None:
            self._run, self._left = self._run + 1, 0
            self.marks.tell(self.what, run=self._run, at=own_frames(sys._getframe(1)), **facts)


class SpreadLosses(FollowedLosses):
    """Looks whether a difference or a weight in the loss spreads predictions over the whole batch."""

    what = "loss-spread"

    def found(self, root, loss):
        """Returns the shapes of such a difference."""
        found = spread_behind(root) or outer_behind(root)
        if found is None:
            return None
        given, made, function = found
        return {"given": list(given), "made": list(made), "function": function}


class SquashedLosses(FollowedLosses):
    """Looks whether losses that take logits are given probabilities."""

    what = "loss-squashed"

    def found(self, root, loss):
        """Returns the two nodes of the graph."""
        found = squashed_behind(root, loss)
        return {"given": found[0], "taken": found[1], "loss": tensor_samples.shown(loss)} if found is not None else None


class UnevenPasses(Part):
    """Compares what one target weighs in the micro-batches of each step, over a window of steps."""

    def forget(self):
        """Starts over."""
        self._open = False
        self._left, self._steps, self._passes = WINDOWS, [], []  # steps: (largest by smallest weight, passes)
        self._at = []

    def backward(self, tensors, loss, adds):
        """Takes the weight of one micro-batch."""
        if self._open and adds and len(self._passes) < MOST_PASSES:
            root = getattr(tensors[0], "grad_fn", None)
            self._passes.append(weight_behind(root) if root is not None and len(tensors) == 1 else None)
            if len(self._passes) == 1:
                self._at = own_frames(sys._getframe(1))

    def step(self, optimizer, followed):
        """Compares those of the step, and tells at the end of a window."""
        if not self._left:
            return
        count, (first, last) = followed.count, self._left[0]
        if self._open:
            passes, self._passes = self._passes, []
            if followed.index or not _is_one_loop(passes):
                self._open, self._left = False, ()
                return
            self._steps.append(sorted(passes, key=lambda one: one.weight))
            if count >= last:
                self._tell(followed)
                self._open, self._left, self._steps = False, self._left[1:], []
        elif count >= first and not followed.index:
            self._open = True

    def _tell(self, followed):
        middle = median(_ratio(passes) for passes in self._steps)
        passes = min(self._steps, key=lambda one: abs(_ratio(one) - middle))
        self.marks.tell(
            "uneven-passes", optimizer=followed.index, step=followed.count, ratio=middle, passes=len(passes),
            least=passes[-1].targets, most=passes[0].targets, at=self._at,
        )  # fmt: skip


def _ratio(passes):
    return passes[-1].weight / passes[0].weight


def _is_one_loop(passes):
    """Whether they are micro-batches of one loss of which targets are left out: tasks differ in their classes."""
    if len(passes) < 2 or None in passes or len({one.classes for one in passes}) != 1:
        return False
    return 2 * sum(one.targets < one.rows for one in passes) >= len(passes)

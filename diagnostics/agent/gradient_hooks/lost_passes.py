"""Micro-batches whose gradients are cleared before the step: of several backward passes only the last one counts.

One parameter of each optimizer is watched, over its first steps; where each had a single pass, only the passes are
counted until a step has several, as accumulation may begin late. Where two backward passes and more from one line add
to its gradient before a step, and it was emptied between them each time, the work of all but the last is thrown away.
Left alone is who uses what was thrown away: gradients that are put together anew before the step, weights that were
moved in between (SAM), other optimizers that stepped meanwhile (GANs), passes from several lines (one for each loss).
"""

from __future__ import annotations

import sys
import weakref

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from .watched_gradient import choose, is_emptied

MOST_TRIES = 4  # steps without a lost pass until an optimizer is left alone
MOST_WAKES = 4  # times that an optimizer is looked at anew: passes that are counted may be another's


class Passes:
    """The backward passes since the latest step, as the gradient of one parameter shows them."""

    __slots__ = (
        "after", "asleep", "code", "count", "followed", "lost", "mixed", "parameter", "run", "tries", "version",
        "wakes",
    )  # fmt: skip

    def __init__(self, followed, parameter):
        self.followed, self.parameter = followed, weakref.ref(parameter)
        self.run = self.tries = self.wakes = 0
        self.asleep = False  # passes are counted, and nothing is looked at
        self.clear()

    def clear(self):
        """A step was made."""
        self.count = self.lost = 0
        self.code = self.after = self.version = None
        self.mixed = False  # something happened that a plain loop over micro-batches does not do


class LostPasses(Part):
    """Of all optimizers that were not yet seen to use each pass."""

    def forget(self):
        """Starts over."""
        self._open, self._known, self._at = {}, set(), []

    def step(self, optimizer, followed):
        """Judges the passes before this step."""
        for index, passes in self._open.items():
            if index != followed.index:
                passes.mixed = True
        if followed.index not in self._known:
            chosen = choose(optimizer)
            if chosen is not None:
                self._open[followed.index] = Passes(followed, chosen)
            if chosen is not None or followed.count >= MOST_TRIES:  # a closure makes the first gradients in the step
                self._known.add(followed.index)
            return
        passes = self._open.get(followed.index)
        if passes is None:
            return
        if passes.asleep:
            if passes.count > 1:
                passes.asleep, passes.tries, passes.wakes = False, 0, passes.wakes + 1
            passes.clear()
            return
        if passes.count > 1 and passes.lost == passes.count - 1 and not passes.mixed and self._is_untouched(passes):
            passes.run, passes.tries = passes.run + 1, 0
            if is_due(passes.run):
                self.marks.tell(
                    "lost-passes", optimizer=followed.index, step=followed.count, run=passes.run,
                    passes=passes.count, at=own_frames(sys._getframe(1)), backward_at=self._at,
                )  # fmt: skip
        else:
            passes.run, passes.tries = 0, passes.tries + 1
            if passes.tries >= MOST_TRIES:
                passes.asleep = passes.count == 1 and passes.wakes < MOST_WAKES
                if not passes.asleep:
                    self._open.pop(followed.index)
        passes.clear()

    def backward(self, tensors, loss, adds):
        """Looks whether what the pass before left is still there."""
        if not self._open or not adds:
            return
        frames = None
        for passes in self._open.values():
            parameter = None if passes.asleep else passes.parameter()
            if parameter is None:
                continue
            if frames is None:
                self._at = frames = own_frames(sys._getframe(1))
            place = frames[0][:2] if frames else None
            if passes.after is not None:
                emptied = is_emptied(parameter.grad, passes.after)
                passes.lost += emptied
                if emptied:
                    passes.after = None  # the next gradient may come to lie where this one lay
                passes.mixed = passes.mixed or place != passes.code or parameter._version != passes.version
            passes.code, passes.version = place, parameter._version

    def backward_ended(self):
        """Counts the pass where it reached the parameter."""
        for passes in self._open.values():
            if passes.asleep:
                passes.count += 1
                continue
            parameter = passes.parameter()
            gradient = parameter.grad if parameter is not None else None
            if gradient is None:
                continue
            readable = not tensor_samples.why_not(gradient)
            after = gradient.data_ptr(), gradient._version, readable
            if after != passes.after:
                passes.count, passes.after = passes.count + 1, after

    def _is_untouched(self, passes):
        """Whether the step uses what the last pass left, but for torch's own clipping and unscaling."""
        parameter = passes.parameter()
        gradient = parameter.grad if parameter is not None else None
        if gradient is None or gradient.data_ptr() != passes.after[0] or parameter._version != passes.version:
            return False
        return gradient._version == passes.after[1] or self.marks.clips.touched

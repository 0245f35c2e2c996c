"""Copies of a model that are evaluated in its place: weights that never follow it, statistics that nobody takes along.

A copy has the names and shapes of a model that learns and computes without gradients, in rounds that lie some steps
apart; a teacher computes in each step. What is evaluated beside the model itself is a measure to compare with.
"""

from __future__ import annotations

import sys
import weakref

from ..part import Part, is_due
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames
from . import model_numbers

MOST = 16  # models of each kind
APART = 4  # steps at least between two rounds
FIRST_TOLD = 3  # rounds
FIRST_NORM_TOLD = 2


class Learner:
    """A model that computed with gradients."""

    __slots__ = ("evaluated", "first", "ref", "shape")

    def __init__(self, model):
        self.ref, self.evaluated = weakref.ref(model), False
        self.shape, self.first = model_numbers.shape_of(model), model_numbers.numbers_of(model)


class Copy:
    """A model that only ever computed without gradients."""

    __slots__ = ("first", "moved", "ref", "rounds", "shape", "stale", "step", "teaches", "told", "unfilled", "writes")

    def __init__(self, model):
        self.ref, self.shape = weakref.ref(model), model_numbers.shape_of(model)
        self.first, self.writes = model_numbers.numbers_of(model), model_numbers.writes_to(model)
        self.step = None  # of the whole process, at the latest call
        self.moved = self.teaches = self.told = False
        self.rounds = self.stale = self.unfilled = 0


class JudgedCopies(Part):
    """Of all outermost modules of this process."""

    def forget(self):
        """Starts over."""
        self._learners, self._copies = {}, {}  # id of what is inside of wrappers -> Learner, Copy
        self._graded = sys.modules["torch"].is_grad_enabled

    def forward(self, module, root):
        """Notes who learns, and looks at a copy where a round begins."""
        learner = self._learners.get(root.core)
        if self._graded():
            if learner is None or learner.ref() is None:
                with tensor_samples.unseen():
                    self._begin(root)
        elif learner is not None and learner.ref() is not None:
            if not learner.evaluated:
                learner.evaluated = True
                self._take_back(learner.shape)
        else:
            self._called_quietly(root)

    def _begin(self, root):
        model = root.inner()
        if model is not None and len(self._learners) < MOST and any(one.requires_grad for one in model.parameters()):
            self._learners[root.core] = Learner(model)
            self._copies.pop(root.core, None)

    def _called_quietly(self, root):
        copy = self._copies.get(root.core)
        if copy is None or copy.ref() is None:
            model = root.inner()
            if model is None or len(self._copies) >= MOST:
                return
            with tensor_samples.unseen():
                copy = self._copies[root.core] = Copy(model)
        steps = self.marks.steps
        if copy.step == steps or copy.teaches:
            return
        before, copy.step = copy.step, steps
        if before and steps - before < APART:
            copy.teaches = True
        elif steps:
            with tensor_samples.unseen():
                self._look(copy, copy.ref(), root)

    def _look(self, copy, model, root):
        copy.rounds += 1
        if not copy.moved and model_numbers.is_changed(copy.first, model_numbers.numbers_of(model)):
            copy.moved = True
            if copy.told:
                self.marks.tell("copy-follows", model=root.core)
        if copy.first and not copy.moved:
            self._look_for_its_model(copy, model, root)
        elif root.normalises and not model.training:
            self._look_at_statistics(copy, model, root)

    def _look_for_its_model(self, copy, model, root):
        like = [one for one in self._learners.values() if one.shape == copy.shape and one.ref() is not None]
        if any(one.evaluated for one in like):
            return
        for one in like:
            now = model_numbers.numbers_of(one.ref())
            if model_numbers.agree(copy.first, one.first) and model_numbers.is_changed(one.first, now):
                copy.stale += 1
                if is_due(copy.stale, FIRST_TOLD):
                    copy.told = True
                    self.marks.tell(
                        "copy-is-stale", model=root.core, root=type(model).__qualname__, rounds=copy.stale,
                        steps=self.marks.steps, written=model_numbers.writes_to(model) > copy.writes,
                        at=own_frames(sys._getframe(1)),
                    )  # fmt: skip
                return

    def _look_at_statistics(self, copy, model, root):
        own = model_numbers.statistics_of(model)
        if not own or not all(count == 0 and new for _, count, new in own):
            return
        like = [one.ref() for one in self._learners.values() if one.shape == copy.shape]
        counts = [count for one in like if one is not None for _, count, _ in model_numbers.statistics_of(one)]
        if len(counts) >= len(own) and all(counts):
            copy.unfilled += 1
            if is_due(copy.unfilled, FIRST_NORM_TOLD):
                self.marks.tell(
                    "copy-lacks-statistics", root=type(model).__qualname__, rounds=copy.unfilled,
                    steps=self.marks.steps, parts=len(own), part=own[0][0], batches=max(counts),
                    at=own_frames(sys._getframe(1)),
                )  # fmt: skip

    def _take_back(self, shape):
        """The model itself was evaluated: its copies are what it is compared with."""
        for key, copy in self._copies.items():
            if copy.told and copy.shape == shape:
                copy.told = False
                self.marks.tell("copy-follows", model=key)

"""The mode in which models are trained and evaluated: `eval()` that nobody took back, `train` left on in evaluation.

Of each step it is known whether the forward passes with gradients before it ran in train or in eval mode. Modules whose
mode says nothing (a loss, a model without dropout and batch norm) do not count.
"""

from __future__ import annotations

import sys
import weakref

from ..imports import when_imported
from ..model_hooks.module_modes import is_modal, is_norm
from ..part import Part, is_due
from ..patching import wrap_method
from ..torch_hooks.wrapped_models import own_frames

MODULE = "torch.nn.modules.module"
EVALUATION = 5  # forward passes in a row without gradients and without a step between them
MOST_PLACES = 64
STATISTICS = "swa_utils"  # torch's own way to compute the statistics of batch norm anew


class Modes(Part):
    """Of all outermost modules of this process."""

    def forget(self):
        """Starts over."""
        self._interval = {}  # id -> (Root, whether one of its forward passes since the latest step was in train mode)
        self._by_optimizer = {}  # number of an optimizer -> {id of a root: [steps in train, steps in eval in a row]}
        self._places = {}  # id of a module -> (weak reference, where eval() was called on it last)
        self._trained = {}  # id of what is inside of wrappers -> steps that followed a forward pass in train mode
        self._in_eval = False  # whether one of the interval was in eval mode
        self._evaluated = False  # eval() was called on anything
        self.quiet = self.told = False  # whether a run of passes in train mode goes on; whether one was told

    def forward(self, module, root):
        """Notes the mode of one call."""
        inner = root.inner()
        if inner is None or not root.modal:
            return
        training = inner.training
        if sys.modules["torch"].is_grad_enabled():
            if training:
                self._interval[root.key] = root.in_train
            else:
                self._interval.setdefault(root.key, root.in_eval)
                self._in_eval = True
        elif training and not self._evaluated and root.normalises and root.core in self._trained:
            root.quiet_run, self.quiet = root.quiet_run + 1, True
            if root.quiet_run == EVALUATION:
                self._note_quiet(root, inner)

    def step(self, optimizer, followed):
        """Counts the step for the roots that ran since the one before."""
        interval = self._interval
        if self.quiet:
            self.quiet = False
            for root in self.marks.roots:
                root.quiet_run = 0
        if not interval:
            return
        counts = self._by_optimizer.get(followed.index)
        if counts is None:
            counts = self._by_optimizer[followed.index] = {}
        in_eval = self._in_eval and not any(training for _, training in interval.values())
        for key, (root, training) in interval.items():
            count = counts.get(key)
            if count is None:
                count = counts[key] = [0, 0]
            if training:
                self._trained[root.core] = count[0] = count[0] + 1
                count[1] = 0
            elif count[0] and in_eval:
                count[1] += 1
                if is_due(count[1]):
                    self._tell(root, followed, count, own_frames(sys._getframe(1)))
        interval.clear()
        self._in_eval = False

    def evaluating(self, module, frame):
        """eval() is called on a module."""
        self._evaluated = True
        if self.told:
            self.told = False
            self.marks.tell("evaluated-after-all")
        key = id(module)
        if len(self._places) < MOST_PLACES or key in self._places:
            self._places[key] = weakref.ref(module, lambda _: self._places.pop(key, None)), own_frames(frame)

    def _note_quiet(self, root, inner):
        frame = sys._getframe(1)
        while frame is not None:
            if STATISTICS in frame.f_code.co_filename:
                return
            frame = frame.f_back
        if any(one.training for one in inner.modules() if is_norm(one)):
            root.quiet_runs += 1
            if is_due(root.quiet_runs, 1):
                self.told = True
                self.marks.tell(
                    "evaluated-in-train", root=type(inner).__qualname__, runs=root.quiet_runs,
                    at=own_frames(sys._getframe(1)), trained=self._trained.get(root.core, 0),
                    optimizers=self.marks.optimizers(), norm=_first(inner, is_norm),
                )  # fmt: skip

    def _tell(self, root, followed, count, at):
        inner = root.inner()
        if inner is None or any(one.training for one in inner.modules()):
            return
        places = [self._places[key][1] for key in (root.key, id(inner)) if key in self._places]
        self.marks.tell(
            "eval-mode", optimizer=followed.index, step=followed.count, run=count[1], trained=count[0],
            root=type(inner).__qualname__, module=_first(inner, is_modal), eval_at=places[-1] if places else [], at=at,
        )  # fmt: skip


def _first(root, test):
    """Returns "2 (Dropout)", the path and class of the first such module."""
    found = ((name, type(one).__qualname__) for name, one in root.named_modules() if test(one))
    return "%s (%s)" % next(found, ("", ""))


def watch(marks):
    """Wraps Module.eval, which wrappers and models inherit."""

    def evaluating(frame, args, kwargs):
        marks.modes.evaluating(args[0], frame)

    when_imported(MODULE, lambda: wrap_method(sys.modules[MODULE].Module, "eval", before=evaluating))

"""Frozen parts that their program put into eval mode before it trained, and that a `train()` of the whole model woke.

Looked at before a few steps only: a part whose own `eval()` was called before the optimizer's first step, when it was
frozen or nothing had been trained, all of whose parameters are frozen, that is in train mode now, and that drops
something or keeps statistics. Who called `train()` on the part itself wants it so.
"""

from __future__ import annotations

import sys
import weakref

from ..frames import is_library
from ..imports import when_imported
from ..part import Part, is_due
from ..patching import PLACE, wrap_method
from ..torch_hooks.wrapped_models import own_frames
from .module_modes import is_modal

MODULE = "torch.nn.modules.module"
MOST = 64
MOST_TRAINS = 8  # `train` of a class of the user's own that calls that of its base


class WokenParts(Part):
    """Of the models of this process."""

    def forget(self):
        """Starts over."""
        self._asleep = {}  # id of a module -> (weak reference, frames of eval(), steps that were made by then)
        self._trained_at, self._began = [], {}  # number of an optimizer -> steps that were made at its first

    def evaluating(self, module, frame):
        """eval() is called on a module; `frame` is the caller's."""
        key = id(module)
        known = self._asleep.get(key)
        if is_library(frame.f_code.co_filename) or (known is None and len(self._asleep) >= MOST):
            return
        if known is not None and known[2] != self.marks.steps:
            return  # of a validation
        if self.marks.steps and not _is_frozen(module):
            return  # of a stage in which it learned
        gone = weakref.ref(module, lambda _: self._asleep.pop(key, None))
        self._asleep[key] = gone, own_frames(frame), self.marks.steps

    def training(self, module, frame):
        """train() is called on a module, not for it as a part of another one."""
        if self._asleep.pop(id(module), None) is None:
            self._trained_at = own_frames(frame)

    def step(self, optimizer, followed):
        """Looks at the parts, where that is due."""
        began = self._began.setdefault(followed.index, self.marks.steps)
        if not self._asleep or not self._trained_at or not is_due(followed.count):
            return
        for reference, evaluating, steps in list(self._asleep.values()):
            part = reference()
            if (
                part is not None
                and steps <= began
                and part.training
                and _is_frozen(part)
                and (module := _first_awake(part))
            ):
                self._tell(part, module, evaluating, followed)

    def _tell(self, part, module, evaluating, followed):
        for root in self.marks.roots:
            inner = root.inner()
            path = next((name for name, one in inner.named_modules() if one is part), "") if inner is not None else ""
            if path:
                self.marks.tell(
                    "part-woken", optimizer=followed.index, step=followed.count, root=type(inner).__qualname__,
                    part=path, part_class=type(part).__qualname__, module=module, eval_at=evaluating,
                    at=self._trained_at,
                )  # fmt: skip
                return


def _is_frozen(part):
    parameters = list(part.parameters())
    return bool(parameters) and not any(one.requires_grad for one in parameters)


def _first_awake(part):
    found = ((name, type(one).__qualname__) for name, one in part.named_modules() if one.training and is_modal(one))
    return "%s (%s)" % found if (found := next(found, None)) is not None else ""


def _goes_down(frame):
    """Whether `train` was called for a part of the module that it was called on: below another `train` of modules."""
    for _ in range(MOST_TRAINS):
        if frame is None or frame.f_code.co_name != "train":
            return False
        if frame.f_code.co_filename.endswith("/nn/modules/module.py"):
            return True
        frame = frame.f_back
        while frame is not None and frame.f_code.co_filename == PLACE:
            frame = frame.f_back
    return False


def watch(parts):
    """Wraps Module.train and Module.eval, which wrappers and models inherit."""

    def evaluating(frame, args, kwargs):
        parts.evaluating(args[0], frame)

    def training(frame, args, kwargs):
        if parts._asleep and (kwargs.get("mode", True) if len(args) < 2 else args[1]) and not _goes_down(frame):
            parts.training(args[0], frame)

    def wrap():
        wrap_method(sys.modules[MODULE].Module, "eval", before=evaluating)
        wrap_method(sys.modules[MODULE].Module, "train", before=training)

    when_imported(MODULE, wrap)

"""Hooks that are registered on the same modules again and again: each call of the model runs more of them.

Where hooks are registered is counted by line. Before a few steps the models are walked, where that went on: how many
hooks of one function does one module hold.
"""

from __future__ import annotations

import sys

from ..imports import when_imported
from ..part import Part, is_due
from ..patching import wrap_method
from ..torch_hooks.wrapped_models import own_frames

MODULE = "torch.nn.modules.module"
REGISTER = (
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook",
    "register_full_backward_pre_hook", "register_backward_hook",
)  # fmt: skip
HELD = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
LEAST = 6  # of one function in one module
MOST_PLACES = 64


class ModuleHooks(Part):
    """Of all models of this process."""

    def forget(self):
        """Starts over."""
        self._places = {}  # code of a hook -> frames of the latest registration
        self._new = 0  # since the latest look
        self._before = {}  # code -> hooks of one module at the look before

    def registered(self, hook, frame):
        """A hook is registered on a module."""
        self._new += 1
        code = _code_of(hook)
        # Those of before the training are registered once.
        if self.marks.steps and (len(self._places) < MOST_PLACES or code in self._places):
            self._places[code] = own_frames(frame)

    def step(self, optimizer, followed):
        """Looks at the models, where that is due and hooks were registered since the look before."""
        if not self._new or not is_due(followed.count):
            return
        self._new, most = 0, {}
        for root in self.marks.roots:
            inner = root.inner()
            for name, module in inner.named_modules() if inner is not None else ():
                for code, count in _counts(module).items():
                    if count > most.get(code, (0,))[0]:
                        most[code] = count, name, type(module).__qualname__
        for code, (count, name, kind) in most.items():
            before = self._before.get(code, 0)
            if count >= LEAST and 0 < before < count and code in self._places:
                self.marks.tell(
                    "hooks-grow", optimizer=followed.index, step=followed.count, count=count, before=before,
                    module="%s (%s)" % (name, kind), function=getattr(code, "co_name", str(code)),
                    at=self._places[code],
                )  # fmt: skip
        self._before = {code: count for code, (count, _, _) in most.items()}


def _counts(module):
    counts = {}
    for held in HELD:
        for hook in list((module.__dict__.get(held) or {}).values()):
            code = _code_of(hook)
            counts[code] = counts.get(code, 0) + 1
    return counts


def _code_of(hook):
    """Returns what is the same for a function that is made anew each time: its code."""
    inner = getattr(hook, "func", hook)  # a partial
    inner = getattr(inner, "__func__", inner)
    return getattr(inner, "__code__", None) or type(inner)


def watch(hooks):
    """Wraps what registers hooks on a module."""

    def registered(frame, args, kwargs):
        hooks.registered(args[1] if len(args) > 1 else kwargs["hook"], frame)

    def wrap():
        for name in REGISTER:
            wrap_method(sys.modules[MODULE].Module, name, before=registered)

    when_imported(MODULE, wrap)

"""Outermost modules that are called: what a wrapper wraps, whether it learns, whether its mode matters."""

from __future__ import annotations

import weakref

from ..model_hooks.module_modes import is_modal, is_norm
from ..torch_hooks.naming import WRAPPED_IN

MOST = 64


class Root:
    """One outermost module with parameters; `inner` refers to what it wraps."""

    __slots__ = ("core", "in_eval", "in_train", "inner", "key", "modal", "normalises", "quiet_run", "quiet_runs", "ref")

    def __init__(self, module, inner, gone):
        self.ref, self.inner, self.key = weakref.ref(module, gone), weakref.ref(inner), id(module)
        self.core = id(inner)  # the same for all wrappers of one model
        self.in_train, self.in_eval = (self, True), (self, False)
        self.modal = any(is_modal(one) for one in inner.modules())
        self.normalises = any(is_norm(one) for one in inner.modules())
        self.quiet_run = self.quiet_runs = 0  # forward passes in train mode without gradients


class Roots:
    """All of this process, by identity."""

    def __init__(self):
        self._known = {}  # id -> Root, or the weak reference of a module without parameters

    def of(self, module):
        """Returns the Root of an outermost module, None where it has no parameters."""
        known = self._known.get(id(module))
        if known is None:
            known = self._add(module)
        return known if type(known) is Root else None

    def __iter__(self):
        return iter([one for one in self._known.values() if type(one) is Root])

    def _add(self, module):
        if len(self._known) >= MOST:
            return None
        key = id(module)

        def gone(_):
            self._known.pop(key, None)

        inner = unwrapped(module)
        if any(True for _ in inner.parameters()):
            self._known[key] = Root(module, inner, gone)
        else:
            self._known[key] = weakref.ref(module, gone)
        return self._known[key]


def unwrapped(module):
    """Returns what is inside of wrappers."""
    while type(module).__name__ in WRAPPED_IN:
        inner = (module.__dict__.get("_modules") or {}).get(WRAPPED_IN[type(module).__name__])
        if inner is None:
            break
        module = inner
    return module

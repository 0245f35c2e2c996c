"""The line that asks whether a loss is a number: found by standing in for what is asked, during one forward pass.

Only where many passes led nowhere: `torch.isfinite` and its like, and `Tensor.item`, are wrapped from the call of the
model up to its next call, and put back. A tensor that requires a gradient and is no finite number is what a guard
skips.
"""

from __future__ import annotations

import sys
from math import isfinite

from ..frames import is_library
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

NAMES = ("isfinite", "isnan", "isinf")
METHODS = ("item", *NAMES)


class Guards:
    """Stands in for these functions while it is open."""

    def __init__(self):
        self.found = None  # (name of the function, value, where it was called)
        self._replaced = []

    def open(self):
        """Puts wrappers in their place."""
        torch = sys.modules["torch"]
        self.found = None
        for owner, names in ((torch, NAMES), (torch.Tensor, METHODS)):
            for name in names:
                original = getattr(owner, name, None)
                if original is not None:
                    wrapper = self._wrapper(original, name)
                    self._replaced.append((owner, name, vars(owner).get(name), wrapper))
                    setattr(owner, name, wrapper)

    def close(self):
        """Puts back what was there, where nobody else has replaced it since."""
        for owner, name, before, wrapper in self._replaced:
            if vars(owner).get(name) is wrapper:
                if before is None:  # inherited
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
        self._replaced = []

    def _wrapper(self, original, name):
        def asked(*args, **kwargs):
            if self.found is None and args:
                try:
                    self._look(name, args[0], sys._getframe(1))
                except Exception:
                    self.found = None  # it is what it is; the job goes on
            return original(*args, **kwargs)

        return asked

    def _look(self, name, tensor, frame):
        if type(tensor) is not sys.modules["torch"].Tensor or is_library(frame.f_code.co_filename):
            return
        with tensor_samples.unseen():
            value = tensor_samples.scalar_of(tensor) if tensor.requires_grad else None
        if value is not None and not isfinite(value):
            self.found = name + "()", value, own_frames(frame)

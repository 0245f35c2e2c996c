"""Which module's output is no finite number first, in one forward pass: looked at where the loss was none before.

The pass is that of the next call of a model, up to the call after it, so that a loss that is a module is part of it.
What is read of each tensor and of the whole pass is bounded; what is not plainly in memory is not read.
"""

from __future__ import annotations

import ctypes
import sys
from math import isfinite, sqrt

from ..torch_hooks import tensor_samples
from .guards import Guards

MOST_BYTES = 2 << 20  # of one pass
MOST_OF_ONE = 64 * 1024
MOST_PASSES = 4  # looked at in a process
MOST_TENSORS = 4  # of one input or output


class Origin:
    """Waits for a pass to look at, looks at it and tells."""

    def __init__(self, marks):
        self._marks = marks
        self.waits, self._passes = False, 0
        self.guards = Guards()
        self._left, self._bad, self._root, self._modules = 0, None, None, 0
        self._run = self._backwards = 0

    def wait(self, run=0, backwards=0):
        """Asks for the next forward pass to be looked at; `run`: how many in a row led to no backward pass."""
        if self._passes < MOST_PASSES and not self.waits:
            self.waits, self._run, self._root, self._backwards = True, run, None, backwards

    def forward(self, module, root):
        """A model is called: the pass begins, or the next one does and this one ends."""
        activity = self._marks.agent.modules
        if self._root is None:
            self._root, self._left, self._bad, self._modules = root.key, MOST_BYTES, None, 0
            self._ends_at = None
            activity.inner = self._called
            self.guards.open()
        elif self._root == root.key:
            self.waits, activity.inner = False, None
            self.guards.close()
            self._passes += 1
            self._tell()
            self._tell_guard()

    def _called(self, module, args, result):
        """A module returned. Never raises."""
        try:
            if self._bad is None and self._left > 0:
                self._modules += 1
                with tensor_samples.unseen():
                    self._look(module, args, result)
        except Exception as error:
            self.waits, self._marks.agent.modules.inner = False, None
            self.guards.close()
            self._marks.give_up(error)

    def _look(self, module, args, result):
        outputs = [self._numbers(one) for one in _tensors(result)]
        broken = [one for one in outputs if one is not None and not one["finite"]]
        last = [one for one in outputs if one is not None]
        if not broken:
            self._ends_at = _facts(module, self._marks, last) if last else self._ends_at
            return
        inputs = [one for one in map(self._numbers, _tensors(args)) if one is not None]
        own = [self._numbers(one) for one in module.__dict__.get("_parameters", {}).values() if one is not None]
        self._bad = {
            **_facts(module, self._marks, broken[:1]), "input": inputs[:MOST_TENSORS],
            "weights_finite": all(one is None or one["finite"] for one in own),
        }  # fmt: skip

    def _numbers(self, tensor):
        if tensor_samples.why_not(tensor) or self._left <= 0:
            return None
        told = _facts_of(tensor)
        self._left -= min(MOST_OF_ONE, tensor.numel() * tensor.element_size())
        return told

    def _tell_guard(self):
        if self.guards.found is not None and self._run:
            name, loss, at = self.guards.found
            self._marks.tell(
                "loss-left-out", run=self._run + 1, step=self._marks.steps, backwards=self._backwards, name=name,
                loss=tensor_samples.shown(loss), at=at, guard=True,
            )  # fmt: skip

    def _tell(self):
        self._marks.tell(
            "origin", run=self._run, modules=self._modules, first=self._bad, step=self._marks.steps,
            last=self._ends_at if self._bad is None else None,
        )  # fmt: skip


def _tensors(value):
    """Returns the first tensors of what a module got or gave."""
    if type(value) is sys.modules["torch"].Tensor:
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if type(value) in (list, tuple) or hasattr(value, "_fields"):
        return [one for one in value if type(one) is sys.modules["torch"].Tensor][:MOST_TENSORS]
    return []


def _facts(module, marks, outputs):
    path, kind, _ = marks.agent.modules.names.text_of(module)
    return {"module": path, "class": kind, "output": outputs}


def _facts_of(tensor):
    """Returns shape, range and root mean square of a tensor in memory, as far as it is read; None of one without."""
    code, size = str(tensor.dtype)[len("torch.") :], tensor.element_size()
    count = min(tensor.numel(), MOST_OF_ONE // size)
    numbers = tensor_samples.numbers_in(ctypes.string_at(tensor.data_ptr(), count * size), code) if count else ()
    if not numbers:
        return None
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    good = numbers if isfinite(sum(numbers)) else [one for one in numbers if isfinite(one)]
    return {
        "shape": shape, "finite": len(good) == len(numbers), "bad": len(numbers) - len(good), "read": len(numbers),
        "least": min(good, default=None), "most": max(good, default=None),
        "rms": sqrt(sum(one * one for one in good) / len(good)) if good else None,
    }  # fmt: skip

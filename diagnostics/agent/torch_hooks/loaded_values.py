"""What was loaded into parameters before the first step, and whether it is still there when that step comes.

A few numbers of each are kept, and none of the parameters. What was scaled, rounded or averaged since goes along with
what was loaded; numbers that were drawn anew do not.
"""

from __future__ import annotations

import sys
import weakref
from math import isfinite, sqrt

from . import tensor_samples

OPTIMIZERS = "torch.optim.optimizer"
MOST, NUMBERS, LEAST_ELEMENTS = 256, 16, 16
LEAST_TENSORS, LEAST_NUMBERS = 2, 32
OVERWRITTEN = 0.75  # of the tensors
ALONG = 0.25  # how far numbers go along at most that have nothing to do with each other


class LoadedValues:
    """Of this process, until its first step; `tell` is given what was overwritten."""

    def __init__(self, tell):
        self._tell, self._handle, self._stepped = tell, None, False
        self._kept = {}  # id of a parameter -> (weak reference, numbers)
        self._load = None  # (class, where) of the first load that counts

    def loaded(self, module, at):
        """A state was loaded into a module."""
        register = getattr(sys.modules.get(OPTIMIZERS), "register_optimizer_step_pre_hook", None)
        if register is None or self._stepped:
            return
        new = {}
        for parameter in module.parameters():
            self._kept.pop(id(parameter), None)  # of a load before
            numbers = numbers_of(parameter) if len(self._kept) + len(new) < MOST else None
            if numbers is not None and len(set(numbers)) > 1:
                new[id(parameter)] = weakref.ref(parameter), numbers
        if new:
            self._kept.update(new)
            self._load = type(module).__qualname__, at
            self._handle = self._handle or register(self._judge)

    def _judge(self, optimizer, args, kwargs):
        # The hook stays: torch walks over its hooks while this one runs, and fails where one is taken away meanwhile.
        if self._stepped:
            return
        self._stepped = True
        try:
            self._compare()
        except Exception:
            pass  # nothing is known of these numbers; the job goes on
        self._kept = {}

    def _compare(self):
        pairs = [(before, numbers_of(one)) for one, before in self._living()]
        pairs = [(before, now) for before, now in pairs if now is not None and len(now) == len(before)]
        changed = [
            (before, now) for before, now in pairs if sum(map(float.__ne__, before, now)) > OVERWRITTEN * len(now)
        ]
        drawn = [(before, now) for before, now in changed if len(set(now)) > 1]
        numbers = sum(len(now) for _, now in drawn)
        if len(drawn) < LEAST_TENSORS or numbers < LEAST_NUMBERS or len(changed) < OVERWRITTEN * len(pairs):
            return
        if abs(sum(len(now) * _along(before, now) for before, now in drawn)) <= ALONG * numbers:
            root, at = self._load
            self._tell("load-overwritten", root=root, tensors=len(pairs), changed=len(changed), at=at)

    def _living(self):
        return [
            (one, before) for one, before in ((ref(), before) for ref, before in self._kept.values()) if one is not None
        ]


def numbers_of(tensor):
    """Returns some numbers of a tensor on the host, None of another one."""
    if tensor.numel() < LEAST_ELEMENTS or tensor_samples.why_not(tensor):
        return None
    step = tensor.numel() // NUMBERS
    data = tensor_samples.elements_of(tensor, [step * number for number in range(NUMBERS)])
    numbers = tensor_samples.numbers_in(data, str(tensor.dtype)[len("torch.") :])
    return numbers if numbers and all(map(isfinite, numbers)) else None


def _along(before, now):
    """Returns how far two rows of numbers go along with each other: 1 for a multiple, 0 for no relation."""
    first, second = ([one - sum(numbers) / len(numbers) for one in numbers] for numbers in (before, now))
    size = sqrt(sum(one * one for one in first) * sum(one * one for one in second))
    return sum(one * other for one, other in zip(first, second)) / size if size else 0.0  # noqa: B905

"""Weights in bfloat16 or float16 whose steps are lost in rounding: they have gradients, and almost none moves.

Of a few parameters some numbers are followed over a window of steps, thrice in a run and more seldom later: which had a
gradient, and which are not what they were at its end. Memory on the host is read; no tensor is kept.
"""

from __future__ import annotations

import sys
import weakref

from ..part import Part
from ..torch_hooks import tensor_samples
from ..torch_hooks.wrapped_models import own_frames

LOW = ("torch.bfloat16", "torch.float16")
WINDOWS = ((20, 60), (100, 180), (400, 560), (2000, 2200), (20000, 20200))  # steps
EVERY = 8  # steps at which gradients are looked at
MOST_PARAMETERS, MOST_NUMBERS = 24, 64
OWN = "torch.optim"


class Window:
    """What was read when it began, and where a gradient was seen since."""

    __slots__ = ("graded", "rows")

    def __init__(self, rows):
        self.rows = rows  # (weak reference, positions, bytes)
        self.graded = [set() for _ in rows]


class RoundedUpdates(Part):
    """Of optimizers of torch's own: others may keep what rounding takes."""

    def forget(self):
        """Starts over."""
        self._open = {}  # number of an optimizer -> Window
        self._left = {}  # number of an optimizer -> the windows to come; () where it is of no interest

    def step(self, optimizer, followed):
        """Follows the window that is open, or opens one."""
        index, count = followed.index, followed.count
        left = self._left.get(index)
        if left is None:
            left = self._left[index] = WINDOWS if _is_low(optimizer) else ()
        if not left or count < left[0][0]:
            return
        window = self._open.get(index)
        if window is None:
            self._open[index] = Window(_rows(optimizer))
        elif count >= left[0][1]:
            self._left[index] = left[1:]
            self._tell(self._open.pop(index), optimizer, followed, left[0])
        elif not count % EVERY:
            for (parameter, positions, _), graded in zip(window.rows, window.graded):  # noqa: B905 - strict is of 3.10
                graded.update(_with_gradient(parameter(), positions))

    def _tell(self, window, optimizer, followed, steps):
        moved = graded = 0
        for (reference, positions, before), seen in zip(window.rows, window.graded):  # noqa: B905 - strict is of 3.10
            parameter = reference()
            if parameter is None or tensor_samples.why_not(parameter):
                continue
            size = parameter.element_size()
            now = tensor_samples.elements_of(parameter, positions)
            for number, position in enumerate(positions):
                if position in seen:
                    graded += 1
                    moved += now[number * size : (number + 1) * size] != before[number * size : (number + 1) * size]
        first = optimizer.param_groups[0]
        self.marks.tell(
            "rounded-updates", optimizer=followed.index, step=followed.count, steps=steps[1] - steps[0], moved=moved,
            graded=graded, kind=str(first["params"][0].dtype), made=self.marks.made_at(optimizer),
            rate=first["lr"] if type(first["lr"]) is float else None, optimizer_class=type(optimizer).__qualname__,
            at=own_frames(sys._getframe(1)),
        )  # fmt: skip


def _is_low(optimizer):
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    return type(optimizer).__module__.startswith(OWN) and all(str(one.dtype) in LOW for one in parameters)


def _rows(optimizer):
    parameters = [one for group in optimizer.param_groups for one in group["params"] if one.grad is not None]
    apart = max(1, len(parameters) // MOST_PARAMETERS)
    rows = []
    for parameter in parameters[::apart][:MOST_PARAMETERS]:
        if tensor_samples.why_not(parameter):
            continue
        count = parameter.numel()
        positions = range(0, count, max(1, count // MOST_NUMBERS))[:MOST_NUMBERS]
        rows.append((weakref.ref(parameter), positions, tensor_samples.elements_of(parameter, positions)))
    return rows


def _with_gradient(parameter, positions):
    """Returns the positions at which its gradient is not zero; of one in another order of memory none."""
    gradient = parameter.grad if parameter is not None else None
    if gradient is None or tensor_samples.why_not(gradient) or gradient.stride() != parameter.stride():
        return ()
    size = gradient.element_size()
    data = tensor_samples.elements_of(gradient, positions)
    zeros = (b"\0" * size, b"\0" * (size - 1) + b"\x80")
    return [one for number, one in enumerate(positions) if data[number * size : (number + 1) * size] not in zeros]

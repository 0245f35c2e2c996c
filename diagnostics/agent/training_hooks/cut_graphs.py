"""Parts behind a reentrant checkpoint that get no gradient, since nothing that they are given requires one.

torch warns of it once, and of much that does no harm: evaluation, frozen parts. Told here are parts with parameters
that an optimizer holds and that require a gradient, in passes that compute gradients.
"""

from __future__ import annotations

import functools
import sys

from ..imports import when_imported
from ..part import FIRST, Part, is_due
from ..patching import stand_in
from ..torch_hooks.wrapped_models import own_frames

MODULE, FUNCTION = "torch.utils.checkpoint", "check_backward_validity"
MOST_DEPTH, MOST_HELD, MOST_NAMES = 3, 16, 8


class CutGraphs(Part):
    """Counts such calls."""

    def forget(self):
        """Starts over."""
        self._graded, self._run = False, 0

    def forward(self, module, root):
        """Notes whether the pass computes gradients: inside of a checkpoint that cannot be asked."""
        self._graded = sys.modules["torch"].is_grad_enabled()

    def checked(self, inputs, frame):
        """A reentrant checkpoint looks at what it is given; `frame` is its own, or that of what it was called by."""
        if not self._graded or self.marks.steps < FIRST or self.marks.broken:
            return
        tensor = sys.modules["torch"].Tensor
        if any(one.requires_grad for one in inputs if isinstance(one, tensor)):
            return
        self._run += 1
        if is_due(self._run):
            self._tell(frame)

    def _tell(self, frame):
        function = frame.f_locals.get("run_function")
        names = self.marks.names_of(
            parameter
            for module in _modules_of(function)
            for parameter in module.parameters()
            if parameter.requires_grad
        )
        if names:
            self.marks.tell(
                "graph-cut", run=self._run, step=self.marks.steps, parameters=len(names), names=names[:MOST_NAMES],
                at=own_frames(frame),
            )  # fmt: skip


def _modules_of(function):
    """Returns the modules that a function calls, as far as it holds them: itself, its object, a partial, a closure."""
    module = sys.modules["torch"].nn.Module
    found, waiting = [], [(function, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, module):
            found.append(one)
            continue
        if depth >= MOST_DEPTH:
            continue
        held = [getattr(one, "__self__", None), getattr(one, "__func__", None)]
        if isinstance(one, functools.partial):
            held += [one.func, *one.args]
        elif type(one) in (list, tuple):
            held += one[:MOST_HELD]
        for cell in (getattr(one, "__closure__", None) or ())[:MOST_HELD]:
            try:
                held.append(cell.cell_contents)
            except ValueError:
                continue  # not bound yet
        waiting.extend((inner, depth + 1) for inner in held if inner is not None)
    return found


def watch(cuts):
    """Tells `cuts` of what torch itself checks there."""
    when_imported(MODULE, lambda: _watch_function(cuts))


def _watch_function(cuts):
    module = sys.modules[MODULE]
    original = getattr(module, FUNCTION, None)
    if original is not None:

        def checked(frame, result, args, kwargs):
            cuts.checked(args[0], frame)

        setattr(module, FUNCTION, stand_in(original, checked))

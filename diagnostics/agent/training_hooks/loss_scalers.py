"""Loss scalers that skip each step: gradients that overflow whatever the scale is."""

from __future__ import annotations

import sys

from ..part import is_due
from ..patching import wrap_method
from ..torch_hooks.wrapped_models import own_frames

MODULE = "torch.amp.grad_scaler"
FIRST = 25  # steps skipped in a row: a scale that began at 2**16 is below 1 by then


def watch(marks):
    """Counts the calls of GradScaler.step that made no step of the optimizer."""
    owner = getattr(sys.modules[MODULE], "GradScaler", None)
    if owner is None:
        return
    skips = {}  # number of an optimizer, -1 for one that never made a step -> [skipped in a row, steps made]

    def stepped(frame, result, args, kwargs):
        scaler, optimizer = args[0], args[1] if len(args) > 1 else kwargs["optimizer"]
        optimizer = getattr(optimizer, "optimizer", optimizer)  # Accelerate's
        if not scaler.is_enabled():
            return
        number, steps = marks.number_of(optimizer), marks.count_of(optimizer)
        known = skips.setdefault(-1 if number is None else number, [0, 0])
        known[0] = known[0] + 1 if steps == known[1] else 0
        known[1] = steps
        if is_due(known[0], FIRST) and not marks.broken:
            at = own_frames(frame)
            marks.tell("scaler-skips", optimizer=number, run=known[0], steps=steps, at=at)

    marks.agent.at_fork.append(skips.clear)
    wrap_method(owner, "step", after=stepped)

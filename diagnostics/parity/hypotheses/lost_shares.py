"""A part of what was computed is not in the gradient, or the gradient of the step before still is.

What it does: writes the gradient of the ranks as a sum of what each rank computes in each backward pass, and of the
gradient of the step before, and looks for weights that are missing, or that should be 0.

Why it matters: with micro-batches that are lost the batch is smaller than it says; with gradients that are never set
to zero each step repeats all before it.

Fix: `optimizer.zero_grad()` once an optimizer step, before the first micro-batch; let only the last backward pass
synchronise, with all that was accumulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y110"
NAME = "lost-or-stale-gradient"


def explain(measured: Measured) -> Explanation | None:
    """Holds where weights show that a micro-batch is missing on some ranks, or that the last step is still there."""
    step = measured.gradient_step
    if step is None or not measured.can_tell(step):
        return None
    number = measured.row("gradient").first_step  # type: ignore[union-attr] # there is a step
    return _stale(measured, step, number) or _lost(measured, step, number)


def _stale(measured: Measured, step: Mapping[str, Any], number: int) -> Explanation | None:
    found = step.get("with_step_before") or [None]
    side = found[0]
    if measured.fits(step["ranks"][0]) or side is None or not measured.fits(side):
        return None
    weight = float(side["weights"][-1])
    return Explanation(
        code=CODE,
        name="stale-gradient",
        sentence=f"{weight:.6g} times the gradient of step {number - 1} is still in that of step {number}",
        factor=f"{weight:.6g}",
        proof=(f"residual {side['residual']:.2g} with it, {step['ranks'][0]['residual']:.2g} without",),
        fix="optimizer.zero_grad() once an optimizer step",
        where=str(measured.lines.get("step", "")),
        step=number,
    )


def _lost(measured: Measured, step: Mapping[str, Any], number: int) -> Explanation | None:
    sides = step["ranks"]
    if not all(measured.fits(side) for side in [*sides, step["one"]]):
        return None
    each, theirs = [measured.shares(step, side) for side in sides], measured.shares(step)
    mine = each[0]
    lost = [
        key
        for key in mine
        if all(abs(one[key]) <= measured.tight for one in each) and abs(theirs[key]) > measured.tight
    ]
    if not lost or len(lost) == len(mine):
        return None
    shown = ", ".join(f"{piece + 1} of rank {rank}" for rank, piece in lost[:6])
    return Explanation(
        code=CODE,
        name="lost-micro-batch",
        sentence=f"the gradient lacks {len(lost)} of {len(mine)} micro-batches: {shown}",
        factor=f"{len(lost)} of {len(mine)}",
        proof=tuple(
            f"{piece + 1} of rank {rank}: weight {mine[rank, piece]:.6g}, in one process {theirs[rank, piece]:.6g}"
            for rank, piece in mine
        ),
        fix="zero_grad() once an optimizer step; the last backward pass synchronises all that was accumulated",
        where=(measured.lines.get("backward") or [""])[0],
        step=number,
    )

"""Gradients are clipped on each rank before they are averaged.

What it does: clips what each rank computes by itself, averages that, and compares it with what the optimizers used.

Why it matters: the norm of one rank's gradient is larger than that of the mean, so more is cut off; and ranks whose
gradient is large are weighted less. Where no gradient reaches the limit, nothing is seen.

Fix: average first, then clip what is the same on all ranks: `clip_grad_norm_` after the last backward pass of a
DistributedDataParallel model, or after your own all_reduce.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y108"
NAME = "clipped-before-averaging"


def explain(measured: Measured) -> Explanation | None:
    """Holds where the ranks use the mean of what each would have clipped by itself, and one process does not."""
    step = measured.gradient_step
    if step is None or not step["cut"] or "mean_of_clipped" not in step:
        return None
    apart = float(step["mean_of_clipped"])
    if apart > measured.tight or max(step["apart"]) <= measured.tight:
        return None
    if max(step["agree_before_clipping"]) <= measured.tight:
        return None  # what each rank clips is the same already
    lines = measured.lines.get("clip") or [""]
    return Explanation(
        code=CODE,
        name=NAME,
        sentence="each rank clips its own gradient, and the clipped ones are averaged",
        proof=(
            f"mean of each rank's clipped gradient = what the ranks use, to {apart:.2g}",
            f"one process, which clips the mean, is {max(step['apart']):.2g} away",
        ),
        fix="clip after the gradients are averaged",
        where=lines[0],
        step=measured.row("gradient").first_step,  # type: ignore[union-attr] # there is a step
    )

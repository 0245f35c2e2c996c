"""The gradients are the same before clipping and not after it: another limit, or a norm of something else.

What it does: compares norms, and gradients before and after clipping, of the ranks and of one process.

Why it matters: a norm over a rank's own shards, or over unscaled and scaled gradients, cuts off another part on each
rank.

Fix: take the norm over all shards (`clip_grad_norm_` of a sharded model's own parameters does), with one limit.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y112"
NAME = "clipping-differs"


def explain(measured: Measured) -> Explanation | None:
    """Holds where only clipping makes the difference."""
    step = measured.gradient_step
    if step is None or max(step["apart_before_clipping"]) > measured.tight or max(step["apart"]) <= measured.tight:
        return None
    row = measured.row("clipped norm")
    at = (row.first if row is not None else None) or {}
    norms = at.get("values", ())
    shown = f"norm {norms[0]:.9g} on rank {at['rank']}, {norms[1]:.9g} in one process" if len(norms) == 2 else "no norm"
    factor = step["applied_factors"]["factor"]
    return Explanation(
        code=CODE,
        name=NAME,
        sentence="the gradients agree before clipping, and differ after it",
        factor=_meaning(factor, measured),
        proof=(f"apart before {max(step['apart_before_clipping']):.2g}, after {max(step['apart']):.2g}", shown),
        fix="one limit, and a norm over the whole gradient",
        where=(measured.lines.get("clip") or [""])[0],
        step=measured.row("gradient").first_step,  # type: ignore[union-attr] # there is a step
    )


def _meaning(factor: float | None, measured: Measured) -> str:
    if factor is None:
        return ""
    known = {float(measured.world): " = number of ranks", 1.0 / measured.world: " = 1 / number of ranks"}
    return f"{factor:.6g}" + next((word for value, word in known.items() if measured.near(factor, value)), "")

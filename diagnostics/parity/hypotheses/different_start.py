"""The ranks start from different parameters.

What it does: compares the parameters of all ranks when the model is first called, after wrapping.

Why it matters: from then on each rank computes gradients of another model, and their mean belongs to none of them.

Fix: let DistributedDataParallel copy rank 0's parameters when it wraps (`init_sync=True`, the default), load a
checkpoint on every rank, or set one seed on all ranks before the model is made.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y101"
NAME = "different-start"


def explain(measured: Measured) -> Explanation | None:
    """Holds where two ranks have other numbers before the first step."""
    if not measured.start_differs:
        return None
    start = measured.raw["start"]
    values = ", ".join(f"{value:.6g}" for value in start.get("values", ()))
    return Explanation(
        code=CODE,
        name=NAME,
        sentence=f"the ranks start from different parameters: rank {start['rank']} has other ones than rank 0",
        proof=(f"before the first step {start['name']} is {values} on ranks 0 and {start['rank']}",),
        fix="have the wrapper copy rank 0's parameters, or set one seed on all ranks before the model is made",
    )

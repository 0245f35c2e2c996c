"""The ranks draw the same random numbers: dropout drops the same units of their samples.

What it does: compares the masks and noise that the models of all ranks draw, number by number.

Why it matters: one process draws a mask for each sample of the global batch. Ranks with one seed draw the same masks
for different samples, so that the noise of their gradients does not average out: N ranks regularise less than one
process.

Fix: `torch.manual_seed(seed + rank)` once the model is made; before it, one seed for all ranks.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y103"
NAME = "same-random-numbers"


def explain(measured: Measured) -> Explanation | None:
    """Holds where two ranks drew the same numbers for their samples."""
    row = measured.row("random numbers")
    if row is None or row.first is None:
        return None
    first = row.first
    return Explanation(
        code=CODE,
        name=NAME,
        sentence=f"ranks 0 and {first['rank']} draw the same random numbers in {first['name']}: one seed on all ranks",
        proof=(f"step {first['step']}: draw {first['place']} ({first['name']}) is the same, number by number",),
        fix="torch.manual_seed(seed + rank) once the model is made",
        step=row.first_step,
        note=True,
    )

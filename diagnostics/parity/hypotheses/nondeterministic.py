"""One process does not compute the same twice: an operation is not deterministic.

What it does: runs the reference once more, and compares it with itself.

Why it matters: where one process differs from itself, its difference from N ranks says nothing.

Fix: `torch.use_deterministic_algorithms(True)`, one seed for Python, numpy and torch, no time or order of threads in
what is computed.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import CAUSES_FIRST, NEVER, Measured, rows_of

CODE = "Y104"
NAME = "non-deterministic"


def explain(measured: Measured) -> Explanation | None:
    """Holds where the reference differs from its repetition, by more than the tolerance."""
    apart = [row for row in rows_of(measured.raw.get("again", ())) if row.first is not None]
    if not apart:
        return None
    row = min(apart, key=lambda one: (one.first_step, CAUSES_FIRST.index(one.name)))
    first = row.first or {}
    return Explanation(
        code=CODE,
        name=NAME,
        sentence=f"one process does not compute the same twice: its {row.name} differs from run to run",
        proof=(
            f"step {row.first_step}: {row.name} {first.get('name', '')} differs by {first.get('difference', 0.0):.3g}"
            " between two runs of one process on the same samples",
        ),
        fix="torch.use_deterministic_algorithms(True), and seeds for Python, numpy and torch",
        step=row.first_step if row.first_step < NEVER else 0,
    )

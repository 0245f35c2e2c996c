"""Forward changes the batch that it was given.

What it does: sees operations that write to the memory of forward's inputs, also through a view, and compares the
inputs before and after.

Why it matters: the batch belongs to the caller. A dataset that lives in memory is changed for the next epoch; the
recomputation of a checkpoint and a second forward see other numbers, and nothing says so.

Example: `forward changes its input x at model.py:172: sub_, div_`.

Fix: write out of place (x = x - x.mean()), or clone the input first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, distinct, evidences, where_of
from diagnostics.inspection.observations import ModelObservation

CODE = "A904"
NAME = "batch-changed-in-forward"
# What is handed over to be written to.
STATES = re.compile(r"cache|state|past|hidden|memory|buffer|\bout\b|queue|bank", re.IGNORECASE)


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each input that forward leaves changed; a note for masks and handed-over states."""
    changed = {one.name: one for step in model.steps for one in step.inputs_changed}
    for name, one in changed.items():
        writes = list(model.writes_to("input", name))
        line = writes[0].place if writes else ""
        operations = ", ".join(distinct(write.short for write in writes))
        meant = not one.floating or bool(STATES.search(name))
        yield Finding(
            code=CODE,
            name=NAME,
            severity=Severity.INFO if meant else Severity.WARNING,
            title=f"forward changes its input {name}{at(line)}: {operations}",
            where=where_of(name, line),
            evidence=(
                *evidences((write.place for write in writes), f"{operations} writes to {name}", "forward"),
                Evidence(source=f"{name} before and after forward", observed="differ", expected="the same"),
            ),
            fix=Fix(text="write out of place: x = x - m for x.sub_(m); or x = x.clone() before"),
            confidence=Confidence.POSSIBLE if meant else Confidence.CONFIRMED,
        )

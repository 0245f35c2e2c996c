"""Parameters that are to be trained get no gradient.

What it does: goes backward from everything floating that forward returns (or from its `loss`), and lists the
parameters with requires_grad that no step reaches, by the outermost module that holds nothing else.

Why it matters: DDP waits for the gradient of every parameter; the step after one that did not come ends with
"Expected to have finished reduction in the prior iteration". Without DDP they are weights that never learn.

Example: `auxiliary_head (2 parameters) gets no gradient`.

Fix: use it in forward, remove it, or requires_grad_(False); else DDP(..., find_unused_parameters=True).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, listed, source, where_of
from diagnostics.inspection.observations import ModelObservation, TensorRow

CODE = "A908"
NAME = "parameters-unused"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each outermost module without any gradient."""
    steps = [step for step in model.whole_steps if step.output_has_gradient]
    if not steps:
        return
    reached = {name for step in steps for name in step.with_gradient}
    unused = [one for one in model.trainable if one.name not in reached]
    used = [one for one in model.trainable if one.name in reached]
    groups: dict[str, list[TensorRow]] = {}
    for one in unused:
        groups.setdefault(_outermost(one.name, used), []).append(one)
    # Where the parameters that take part change from step to step, other batches may reach these (A912 says so).
    settled = len({step.with_gradient for step in steps}) == 1
    for path, rows in groups.items():
        yield _finding(path, rows, len(steps), len(model.trainable), settled=settled)


def _outermost(name: str, used: Sequence[TensorRow]) -> str:
    """Returns the shortest path above `name` below which nothing is used, the name itself where there is none."""
    parts = name.split(".")
    for length in range(1, len(parts)):
        path = ".".join(parts[:length])
        if not any(other.name.startswith(f"{path}.") for other in used):
            return path
    return name


def _finding(path: str, rows: Sequence[TensorRow], steps: int, trained: int, *, settled: bool) -> Finding:
    names, line = [one.name for one in rows], rows[0].place
    several = "" if names == [path] else f" ({len(names)} parameters)"
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.WARNING if settled else Severity.INFO,
        confidence=Confidence.CONFIRMED if settled else Confidence.POSSIBLE,
        title=f"{path}{several}{at(line)} gets no gradient",
        where=where_of(path, line),
        evidence=(
            Evidence(
                source=source(line, path),
                observed=f"no gradient for {listed(names)} in {steps} steps",
                expected=f"DDP waits for all {trained}",
            ),
        ),
        fix=Fix(
            text=f"use {path} in forward, remove it, or {path}.requires_grad_(False);\n"
            "where it is meant: DDP(model, find_unused_parameters=True)"
        ),
    )

"""A tensor that backward needs is changed in place.

What it does: notes the version of each tensor that autograd saves, with the line that saved it and the operation
that wrote to the same memory later. It is reported where autograd itself refuses that step.

Why it matters: torch says "one of the variables needed for gradient computation has been modified by an inplace
operation" and names neither. In-place on a fresh activation, as ReLU(inplace=True) behind BatchNorm, is healthy.

Example: `add_ at model.py:72 overwrites what inner.1 (Sigmoid) saved for backward`.

Fix: write out of place on that line (y = y + 1), or clone what was saved before.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, place, source, where_of
from diagnostics.inspection.observations import ModelObservation, Overwritten

CODE = "A901"
NAME = "saved-tensor-overwritten"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each line that overwrites what backward needs."""
    found: dict[tuple[str, str], tuple[Overwritten, str]] = {}
    for step in model.steps:
        for one in step.overwritten:
            line = one.write.place if one.write is not None else ""
            found.setdefault((line or one.saved_at, one.tensor), (one, step.overwritten_error))
    yield from (_finding(model, one, error) for one, error in found.values())


def _finding(model: ModelObservation, one: Overwritten, error: str) -> Finding:
    write, kept = one.write, _kept(model, one)
    operation = f"{write.short}{at(write.place)}" if write is not None else "an operation in place"
    line = write.place if write is not None else ""
    member = write.module if write is not None else one.saved_in
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.ERROR,
        title=f"{operation} overwrites {kept} for backward",
        where=where_of(model.shown(member), line, one.saved_at),
        evidence=(
            Evidence(
                source=source(one.saved_at, "autograd"),
                observed=f"saved for backward here, at version {one.saved_version}",
            ),
            *_written(model, one),
            Evidence(source="loss.backward()", observed=error.partition(": [")[0]),
        ),
        fix=Fix(text="write out of place: y = y + 1 for y += 1; or clone() what is changed"),
    )


def _kept(model: ModelObservation, one: Overwritten) -> str:
    shape = "x".join(map(str, one.shape)) or "scalar"
    what = one.tensor or f"a {shape} tensor"
    return f"{what} that {model.shown(one.saved_in)} saved"


def _written(model: ModelObservation, one: Overwritten) -> Iterator[Evidence]:
    if one.write is not None:
        where = place(one.write.place) or model.shown(one.write.module)
        yield Evidence(source=where, observed=f"{one.write.short} writes to it; version {one.version} in backward")

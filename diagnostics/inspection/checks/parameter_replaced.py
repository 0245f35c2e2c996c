"""Forward puts a new parameter in the place of a registered one.

What it does: compares the parameter objects before and after forward.

Why it matters: optimizer, DDP and FSDP hold the object that was there when they were built. The new one is neither
stepped nor averaged, and the loss stands still without a word.

Example: `forward replaces gain by a new parameter at model.py:184`.

Fix: compute with another tensor and leave the parameter; or write to it: self.gain.data.copy_(...).
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, source, where_of
from diagnostics.inspection.observations import ModelObservation

CODE = "A914"
NAME = "parameter-replaced"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each parameter that is another object after forward."""
    for name, line in {one.name: one.place for step in model.steps for one in step.replaced}.items():
        yield Finding(
            code=CODE,
            name=NAME,
            severity=Severity.ERROR,
            title=f"forward replaces {name} by a new parameter{at(line)}",
            where=where_of(name, line),
            evidence=(
                Evidence(
                    source=source(line, name),
                    observed=f"{name} is another object after forward",
                    expected="the one that optimizer and DDP hold",
                ),
            ),
            fix=Fix(text=f"compute with a tensor: gain = self.{name}.clamp(0, 1), and leave the parameter registered"),
        )

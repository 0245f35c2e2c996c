"""Registered tensors share memory: a parameter or buffer is a view of another one.

What it does: compares where the elements of all parameters and buffers lie. Several names of one object are a tie
(A907), and weights that a library keeps side by side in one block share nothing.

Why it matters: an optimizer steps each parameter, so the common elements are stepped twice; `.to(device)`, loading a
checkpoint and FSDP copy each tensor and so end the sharing without a word: the model on the GPU is another one.

Example: `first_rows at model.py:82 is a view of table: both are parameters`.

Fix: tie by the object (self.head.weight = self.embedding.weight), or take the part in forward: self.table[:4].
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, source, where_of
from diagnostics.inspection.observations import ModelObservation, Overlap, Stored

CODE = "A905"
NAME = "memory-shared"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each pair: an error for two trained parameters, a note for buffers never written."""
    for pair in model.sharing.overlaps:
        part, whole = sorted((pair.other, pair.one), key=_elements)  # of two alike the later one
        yield Finding(
            code=CODE,
            name=NAME,
            severity=_severity(model, pair),
            title=f"{part.name}{at(part.place)} lies in the memory of {whole.name}",
            where=where_of(part.name, part.place, whole.place),
            evidence=tuple(
                Evidence(source=source(one.place, one.name), observed=f"{one.kind} {one.name}, {_shape(one)}")
                for one in (part, whole)
            ),
            fix=Fix(text=_fix(part, whole)),
        )


def _severity(model: ModelObservation, pair: Overlap) -> Severity:
    both = (pair.one, pair.other)
    if all(one.kind == "parameter" and one.trainable for one in both):
        return Severity.ERROR
    written = any(one.kind == "buffer" and any(model.writes_to("buffer", one.name)) for one in both)
    return Severity.WARNING if written or any(one.kind == "parameter" for one in both) else Severity.INFO


def _fix(part: Stored, whole: Stored) -> str:
    if part.kind == whole.kind == "parameter":
        whole_name = f"self.{whole.name}"
        if part.shape == whole.shape:
            return f"tie by the object, which survives .to() and loading: self.{part.name} = {whole_name}"
        return f"take the part in forward, from {whole_name}, or give it memory of its own: .clone()"
    return f"give {part.name} memory of its own where it is registered: .clone()"


def _shape(one: Stored) -> str:
    return f"{'x'.join(map(str, one.shape)) or 'scalar'}, strides {list(one.stride)}"


def _elements(one: Stored) -> int:
    product = 1
    for size in one.shape:
        product *= size
    return product

"""Float64 has slipped in among narrower tensors, or parameters are of several dtypes.

What it does: compares the dtypes of all floating parameters and buffers. A model that is float64 throughout is meant
so, and a scalar does not widen what it is multiplied with.

Why it matters: one float64 buffer from numpy makes everything behind it float64: twice the memory, on a GPU 1/32 to
1/64 of the speed, and "expected scalar type Float but found Double" where it meets a layer. FSDP1 flattens only
parameters of one dtype.

Example: `window at model.py:134 is float64, most of the model is float32`.

Fix: name the dtype where the tensor is made: torch.from_numpy(x).float().
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, listed, source, where_of
from diagnostics.inspection.observations import ModelObservation, TensorRow

CODE = "A910"
NAME = "dtypes-mixed"
WIDE = ("float64", "complex128")


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields a warning for each wide tensor in a narrower model, else a note where parameters differ."""
    floating = [one for one in model.tensors if one.floating and one.dimensions]
    elements: Counter[str] = Counter()
    for one in floating:
        elements[one.dtype] += one.elements
    usual = max((dtype for dtype in elements if dtype not in WIDE), key=elements.__getitem__, default="")
    wide = [one for one in floating if one.dtype in WIDE] if usual else []
    yield from (_wide(one, usual) for one in wide[:10])
    if not wide:
        yield from _several([one for one in floating if one.kind == "parameter" and one.trainable])


def _wide(one: TensorRow, usual: str) -> Finding:
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.WARNING,
        title=f"{one.name}{at(one.place)} is {one.dtype} in a model of {usual}",
        where=where_of(one.name, one.place),
        evidence=(
            Evidence(
                source=source(one.place, one.name),
                observed=f"{one.kind} {one.name}: {one.elements} elements, {one.dtype}",
                expected=usual,
            ),
        ),
        fix=Fix(text=f"name the dtype where it is made: dtype=torch.{usual}, or .to(torch.{usual})"),
    )


def _several(parameters: list[TensorRow]) -> Iterator[Finding]:
    first = {one.dtype: one for one in reversed(parameters)}
    if len(first) > 1:
        yield Finding(
            code=CODE,
            name=NAME,
            severity=Severity.INFO,
            title=f"trained parameters are {listed(sorted(first))}",
            where=where_of(next(iter(first.values())).name, next(iter(first.values())).place),
            evidence=tuple(
                Evidence(source=source(one.place, one.name), observed=f"{one.name} is {dtype}")
                for dtype, one in sorted(first.items())
            ),
            fix=Fix(text="nothing where it is meant; FSDP1 flattens only parameters of one dtype: wrap them apart"),
        )

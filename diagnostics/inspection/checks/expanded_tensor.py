"""A buffer or parameter is an expanded view: several of its elements are one place in memory.

What it does: looks for registered tensors with stride 0 over a dimension longer than one, as expand() and
broadcast_to() leave them.

Why it matters: nothing can be written to such a tensor. DDP's first broadcast of the buffers and load_state_dict both
end with "more than one element of the written-to tensor refers to a single memory location".

Example: `offset at model.py:94 is an expanded view of 1 element as 8`.

Fix: .clone() behind expand(), or register the small tensor and expand it in forward.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, source, where_of
from diagnostics.inspection.observations import ModelObservation

CODE = "A906"
NAME = "expanded-tensor"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each expanded tensor."""
    for one in model.sharing.expanded:
        real = prod(size for size, stride in zip(one.shape, one.stride, strict=True) if stride)
        yield Finding(
            code=CODE,
            name=NAME,
            severity=Severity.ERROR,
            title=f"{one.name}{at(one.place)} is an expanded view: {real} in memory, {prod(one.shape)} shown",
            where=where_of(one.name, one.place),
            evidence=(
                Evidence(
                    source=source(one.place, one.name),
                    observed=f"{one.kind} {one.name}, shape {list(one.shape)}, strides {list(one.stride)}",
                    expected="no stride 0",
                ),
            ),
            fix=Fix(text="DDP and load_state_dict write to it: .clone() behind expand(), or expand in forward"),
        )

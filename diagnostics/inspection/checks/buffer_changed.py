"""Forward changes a buffer by what is in the batch.

What it does: sees each operation that writes to a buffer in forward, and compares what two batches leave there from
the same start. Counters and power iterations leave the same; running statistics, caches and codebooks do not.
torch's own layers (BatchNorm) are not named. A buffer that backward needs is another matter (A901).

Why it matters: DDP copies rank 0's buffers over the others' before each forward: what ranks 1, 2 ... wrote is lost.
That is well for a cache that each step fills anew, and as BatchNorm has it; it is wrong for a codebook or a queue
that is meant to have seen every rank's batch.

Example: `forward writes the batch into keys and values at model.py:119`.

Fix: all_reduce what is written, where all ranks should count; broadcast_buffers=False, where each keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, listed, source, where_of
from diagnostics.inspection.observations import ModelObservation

CODE = "A903"
NAME = "buffer-depends-on-the-batch"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one note over all buffers that hold something of the batch after forward."""
    writes = {}
    for effect in model.effects:
        own = [one for one in model.writes_to("buffer", effect.name) if not one.by_layer]
        if effect.kind == "buffer" and effect.differs and own:
            writes[effect.name] = own[0]
    if not writes:
        return
    first = next(iter(writes.values()))
    yield Finding(
        code=CODE,
        name=NAME,
        severity=Severity.INFO,
        title=f"forward writes the batch into {listed(list(writes))}{at(first.place)}",
        where=where_of(listed(list(writes)), first.place),
        evidence=tuple(
            Evidence(
                source=source(one.place, model.shown(one.module)),
                observed=f"{one.short} writes to {name}; two batches left two contents",
            )
            for name, one in list(writes.items())[:4]
        ),
        fix=Fix(
            text="under DDP rank 0's alone survive: all_reduce what all ranks should count in;\n"
            "broadcast_buffers=False where each rank keeps its own; nothing to do for a cache"
        ),
    )

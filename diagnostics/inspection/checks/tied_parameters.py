"""A parameter or module has several names.

What it does: lists parameters, buffers and modules that are one object under several names, with the lines that
register them.

Why it matters: ties are healthy, and good to know of: FSDP must keep all names in one unit, safetensors refuses to
save the tensor twice, and a checkpoint that holds both names may hold two different tensors.

Example: `embedding.weight and head.weight are one parameter (model.py:84)`.

Fix: nothing under DDP. Under FSDP wrap the owners as one unit; save with safetensors.torch.save_model.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import listed, place, source, where_of
from diagnostics.inspection.observations import ModelObservation, Tie

CODE = "A907"
NAME = "tied-parameters"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one note for each object with several names."""
    tensors = {one.name: one.kind for one in model.tensors}
    for tie in model.sharing.tied:
        kind = next((tensors[name] for name in tie.names if name in tensors), "module")
        line = place(_line(tie))
        yield Finding(
            code=CODE,
            name=NAME,
            severity=Severity.INFO,
            title=f"{listed(tie.names)} are one {kind}{f' ({line})' if line else ''}",
            where=where_of(listed(tie.names), _line(tie)),
            evidence=tuple(
                Evidence(source=source(where, kind), observed=f"registers {name}")
                for name, where in list(zip(tie.names, tie.places, strict=False))[:4]
            ),
            fix=Fix(text="nothing under DDP; under FSDP keep the owners in one unit"),
        )


def _line(tie: Tie) -> str:
    """The line that ties: the last one that is known."""
    return next((one for one in reversed(tie.places) if one), "")

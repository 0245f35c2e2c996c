"""The model lies on several devices.

What it does: compares the devices of all parameters and buffers, after `--device` where it was given. Scalars may lie
on the CPU, and a model that is spread over GPUs is meant so.

Why it matters: what was left on the CPU (a plain list of layers, a tensor made in forward, .to() before a layer was
added) ends with "Expected all tensors to be on the same device", or is copied in every step. DDP with device_ids takes
one device only.

Example: `heads.1.weight is on cpu, most of the model on cuda:0`.

Fix: model.to(device) after everything was added, and before the optimizer is built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, listed, source, where_of
from diagnostics.inspection.observations import ModelObservation, TensorRow

CODE = "A911"
NAME = "devices-mixed"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each device but the usual one: a note where all are GPUs."""
    tensors = [one for one in model.tensors if one.dimensions]
    elements: Counter[str] = Counter()
    for one in tensors:
        elements[one.device] += one.elements
    usual = max(elements, key=elements.__getitem__, default="")
    for device in sorted(set(elements) - {usual}):
        yield _finding([one for one in tensors if one.device == device], device, usual)


def _finding(rows: list[TensorRow], device: str, usual: str) -> Finding:
    first = rows[0]
    alike = device.partition(":")[0] == usual.partition(":")[0]
    names = listed([one.name for one in rows])
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.INFO if alike else Severity.WARNING,
        title=f"{names}{at(first.place)}: on {device}, most of the model on {usual}",
        where=where_of(first.name, first.place),
        evidence=tuple(
            Evidence(source=source(one.place, one.name), observed=f"{one.name} is on {one.device}", expected=usual)
            for one in rows[:4]
        ),
        fix=Fix(text=f"register it before model.to('{usual}'), which moves parameters and buffers only"),
    )

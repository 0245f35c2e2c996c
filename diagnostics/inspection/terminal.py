"""What an inspection measured, as lines for people and as plain values for JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from diagnostics.core.findings import to_json
from diagnostics.inspection.engine import Inspected
from diagnostics.inspection.observations import ModelObservation
from diagnostics.report import terminal

COLUMNS = ("module", "class", "parameters", "buffers", "dtype", "device")


def summary(inspected: Inspected, target: str) -> str:
    """Returns 'inspected resnet.Net: 62 modules, 11.2 M parameters, 3 steps, nothing found (4.1 s)'."""
    about = [target]
    if inspected.seen:
        models = [seen for _, seen in inspected.seen]
        parameters = sum(seen.parameters for seen in models)
        modules, steps = sum(seen.module_count for seen in models), min(len(seen.steps) for seen in models)
        several = f"{len(models)} models, " if len(models) > 1 else ""
        about.append(
            f"{several}{_counted(modules, 'module')}, {_short(parameters)} parameters, {_counted(steps, 'step')}"
        )
    return terminal.summary_line(inspected.verdict, subject=f"inspected {': '.join(about)}")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _short(number: int) -> str:
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return str(number)


def module_lines(name: str, seen: ModelObservation) -> Iterator[str]:
    """Yields a table of the modules that hold tensors: numbers, dtype, device."""
    rows = [COLUMNS] + [
        (
            row.path or "(itself)",
            row.class_name,
            f"{row.parameters:,}",
            f"{row.buffers:,}",
            " ".join(row.dtypes),
            " ".join(row.devices),
        )
        for row in seen.modules
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    yield f"{name} ({seen.class_name}); elements of its own, by module"
    for row in rows:
        cells = (
            cell.rjust(width) if column in (2, 3) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
    if seen.limited:
        yield seen.limited


def facts(seen: ModelObservation) -> dict[str, Any]:
    """Returns what --json holds of a model beside findings: modules with dtype and device, writes, steps."""
    writes = {
        (one.kind, one.name, one.short, one.place): one.by_layer
        for step in seen.steps
        for one in step.writes
        if one.kind in ("parameter", "buffer")
    }
    return {
        "class": seen.class_name,
        "modules": to_json(seen.modules),
        "module_count": seen.module_count,
        "parameters": seen.parameters,
        "steps": len(seen.steps),
        "calls": [len(step.calls) for step in seen.steps],
        "parameters_with_gradient": [len(step.with_gradient) for step in seen.steps],
        "writes": [
            {"kind": kind, "name": name, "operation": operation, "where": where, "by_torch_layer": layer}
            for (kind, name, operation, where), layer in writes.items()
        ],
        "not_watched": seen.limited,
    }

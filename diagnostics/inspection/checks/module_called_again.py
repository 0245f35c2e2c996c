"""A module with parameters is called several times in one step.

What it does: counts calls in forward, of modules that hold parameters, and names the lines that call; of modules
inside each other the outermost.

Why it matters: sharing weights so is healthy, and good to know of: reentrant checkpoints of such a module fail under
DDP ("marked ready twice") unless static_graph=True, and hooks on it run more than once.

Example: `encoder is called 2 times in a step (model.py:120, model.py:121)`.

Fix: nothing, unless it is checkpointed: checkpoint(..., use_reentrant=False).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import distinct, listed, place, source, where_of
from diagnostics.inspection.observations import ModelObservation

CODE = "A909"
NAME = "module-called-again"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one note for each outermost module that is called several times."""
    counts: Counter[str] = Counter()
    for step in model.steps:
        counts |= Counter(call.path for call in step.calls)
    again = {path: count for path, count in counts.items() if count > 1 and path and _holds_parameters(model, path)}
    for path, count in again.items():
        if not any(path.startswith(f"{other}.") for other in again):
            lines = distinct(call.place for step in model.steps for call in step.calls if call.path == path)
            yield _finding(model, path, count, lines)


def _holds_parameters(model: ModelObservation, path: str) -> bool:
    return any(row.parameters and f"{row.path}.".startswith(f"{path}.") for row in model.modules)


def _finding(model: ModelObservation, path: str, count: int, lines: list[str]) -> Finding:
    places = [place(line) for line in lines]
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.INFO,
        title=f"{model.shown(path)} is called {count} times in a step ({listed(places)})",
        where=where_of(path, *lines),
        evidence=tuple(Evidence(source=source(line, path), observed=f"calls {path}") for line in (lines or [""])[:4]),
        fix=Fix(text="nothing, unless it is checkpointed: checkpoint(..., use_reentrant=False)"),
    )

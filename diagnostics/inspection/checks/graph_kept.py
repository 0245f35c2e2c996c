"""A module carries a tensor with its graph from one step into the next.

What it does: where a later step's backward ends with "Trying to backward through the graph a second time", lists the
buffers and attributes of modules that still have a graph behind them, with the line that sets them.

Why it matters: torch names no tensor, and its advice (retain_graph=True) makes each step slower and larger than the
one before. A loss that a module keeps for the training loop is healthy.

Example: `hidden, set at model.py:160, carries the graph of step 1 into step 2`.

Fix: keep it without its graph: self.hidden = hidden.detach().
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.graph_signs import is_kept_graph
from diagnostics.inspection.checks.listing import at, listed, source, where_of
from diagnostics.inspection.observations import ModelObservation, StepError

CODE = "A913"
NAME = "graph-kept"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding where a step reaches the graph of the step before."""
    for number, step in enumerate(model.steps, start=1):
        if is_kept_graph(step.error):
            yield _finding(step.error, number)


def _finding(error: StepError | None, number: int) -> Finding:
    kept = error.kept if error is not None else ()
    line = next((one.place for one in kept if one.place), "")
    names = listed([one.name for one in kept]) or "a tensor that is no attribute of a module"
    text = error.text.partition(" (")[0] if error is not None else ""
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.ERROR,
        title=f"{names}, set{at(line)}, carries the graph of step {max(number - 1, 1)} into step {number}"
        if line
        else f"{names} carries the graph of step {max(number - 1, 1)} into step {number}",
        where=where_of(names, line),
        evidence=(
            *(Evidence(source=source(one.place, one.name), observed=f"{one.name} has a graph") for one in kept[:4]),
            Evidence(source=f"backward of step {number}", observed=text),
        ),
        fix=Fix(text="keep it without its graph: self.hidden = hidden.detach(), or reset it before each step"),
    )

"""Forward takes another path in another step.

What it does: compares the order of module calls, and the set of parameters with a gradient, between steps with
different batches; it names the first call where the paths part.

Why it matters: ranks see different batches, and so take different paths. DDP waits for gradients that do not come
unless find_unused_parameters=True; static_graph=True takes the first step's path for all; collectives inside a branch
hang. A loop over the length of a sequence is healthy as long as the same parameters take part.

Example: `step 1 calls high at model.py:147 where step 2 calls low at model.py:148`.

Fix: compute both and choose by torch.where, or DDP(model, find_unused_parameters=True) without static_graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, listed, source, where_of
from diagnostics.inspection.observations import Call, ModelObservation

CODE = "A912"
NAME = "control-flow-changes"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding: a warning where other parameters take part, a note where only the calls differ."""
    steps = model.whole_steps
    for number, other in enumerate(steps[1:], start=2):
        apart = sorted(set(steps[0].with_gradient) ^ set(other.with_gradient))
        parting = _parting(steps[0].calls, other.calls)
        if apart or parting is not None:
            yield _finding(model, number, apart, parting or (None, None))
            return


def _parting(first: tuple[Call, ...], other: tuple[Call, ...]) -> tuple[Call | None, Call | None] | None:
    pairs = zip_longest(first, other)
    return next(((a, b) for a, b in pairs if (a and a.path) != (b and b.path)), None)


def _finding(
    model: ModelObservation, number: int, apart: list[str], parting: tuple[Call | None, Call | None]
) -> Finding:
    calls = [(1, parting[0]), (number, parting[1])]
    title = " where ".join(f"step {step} {_call(call)}" for step, call in calls)
    if parting == (None, None):
        title = f"{listed(apart)} got a gradient in step 1 or in step {number}, not in both"
    known = [call for _, call in calls if call is not None]
    rows = [one.place for one in model.tensors if one.name in apart]
    member = known[0].path if known else listed(apart)
    evidence = [
        Evidence(source=source(call.place, call.path), observed=f"step {step} calls {model.shown(call.path)}")
        for step, call in calls
        if call is not None
    ]
    if apart:
        observed = f"{listed(apart)}: a gradient in one of them"
        evidence.append(Evidence(source=f"steps 1 and {number}", observed=observed, expected="in both"))
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.WARNING if apart else Severity.INFO,
        title=title,
        where=where_of(member, *(call.place for call in known), *rows),
        evidence=tuple(evidence),
        fix=Fix(text=_fix(bool(apart))),
    )


def _call(call: Call | None) -> str:
    return f"calls {call.path}{at(call.place)}" if call is not None else "calls nothing more"


def _fix(parameters: bool) -> str:
    if parameters:
        return "DDP(model, find_unused_parameters=True) and no static_graph;\n"
        "or compute both and choose by torch.where"
    return "nothing for DDP: the same parameters take part; leave static_graph=True away"

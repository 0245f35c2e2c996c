"""Parameters that were frozen go on moving: their optimizer holds them, with gradients that were left behind.

What it does: compares, look by look, the values of parameters that no longer require gradients and that an optimizer
steps. It is told where they change over four looks and more, at odd and even steps, while their gradient is there and
is zero, or one and the same each time: no pass made it.

Why it matters: `requires_grad_(False)` keeps a gradient from being made, not an optimizer from using the one that is
there. With momentum, weight decay or Adam's averages, a gradient of zero moves a weight, and decay shrinks it in each
step; an old gradient is used again and again. The part that was to be kept is lost, without an error.

Fix: give the optimizer only what still learns (a new one, or `param_groups` without the frozen part), or clear
gradients to None (`zero_grad()` without `set_to_none=False`): what has none is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from diagnostics.core.findings import Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.tables import print_text
from diagnostics.record.parameter_prints import Look

CODE = "D936"
NAME = "frozen-parts-move"
CLASS = "gradients-not-cleared"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_LOOKS = 4
_FREEZES = re.compile(r"\brequires_grad_\(\s*(?:requires_grad\s*=\s*)?False\s*\)|\brequires_grad\s*=\s*False\b")
_ZEROES = re.compile(r"\bset_to_none\s*=\s*False\b|\.grad\.(?:zero_|fill_)\(|\.grad\.data\.zero_\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """The frozen parameters of one optimizer that move, and the looks at it since."""

    process: JobProcess
    looks: tuple[Look, ...]
    indices: tuple[int, ...]

    @property
    def zero(self) -> bool:
        """Whether their gradients are zero."""
        return all(look.gradients[index].is_zero for look in self.looks for index in self.indices)


def match(job: Job) -> Match | None:
    """Returns the ranks whose frozen parameters move."""
    found = [one for process in job.ranks for one in _moving(process)]
    if not found:
        return None
    first = found[0]
    model = first.looks[-1].model
    index = first.indices[0]
    froze = lines_like(job, first.process, _FREEZES)[:1]
    zeroed = lines_like(job, first.process, _ZEROES)[:1] if first.zero else ()
    made, stepped = own(first.process, model.made)[:1], own(first.process, model.stepped)[:1]
    at = f" at {job.line(froze[0])}" if froze else ""
    more = f" and {len(first.indices) - 1} more" if len(first.indices) > 1 else ""
    left = "zero, which momentum, decay or averages still move" if first.zero else "of before, used again in each step"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{model.class_name} goes on moving {model.names[index]}{more} that {'were' if more else 'was'} frozen"
        f"{at}: the gradients left there are {left}",
        evidence=[
            Evidence(
                source=f"{model.names[index]}, which requires no gradient: checksum, root mean square, first number",
                observed="\n".join(
                    f"before step {look.step}  {print_text(look.values[index])}"
                    f"  gradient {print_text(look.gradients[index])}"
                    for look in (first.looks[0], first.looks[-1])
                ),
                expected="the same value",
            )
        ],
        fix="give the optimizer only what still learns, or clear gradients to None when a part is frozen: "
        "zero_grad(set_to_none=True)",
        places=(*froze, *zeroed, *made, *stepped),
    )


def _moving(process: JobProcess) -> list[Moving]:
    found = []
    for optimizer in sorted({look.model.optimizer for look in process.prints.looks}):
        looks = process.prints.of_optimizer(optimizer)
        since = _frozen_since(looks)
        if len(since) < LEAST_LOOKS or len({look.step % 2 for look in since}) < 2 or any(one.closure for one in since):
            continue
        indices = tuple(index for index in range(len(since[0].values)) if _moves(since, index))
        if indices:
            found.append(Moving(process=process, looks=since, indices=indices))
    return found


def _frozen_since(looks: Sequence[Look]) -> tuple[Look, ...]:
    """Returns the latest looks, all with the same parameters frozen as the last one; () where none is."""
    if not looks or all(looks[-1].model.learns):
        return ()
    last = looks[-1].model
    since: list[Look] = []
    for look in reversed(looks):
        if (look.model.learns, look.model.names, look.model.shapes) != (last.learns, last.names, last.shapes):
            break
        since.insert(0, look)
    return tuple(since)


def _moves(looks: Sequence[Look], index: int) -> bool:
    """Whether this parameter is frozen, has a gradient that no pass made, and is another one at each look."""
    if looks[-1].model.learns[index]:
        return False
    gradients = [look.gradients[index] for look in looks]
    values = [look.values[index] for look in looks]
    if not all(one.read for one in (*gradients, *values)) or not all(one.is_finite for one in values):
        return False
    left = all(one.is_zero for one in gradients) or all(one == gradients[0] for one in gradients)
    return left and all(former.checksum != later.checksum for former, later in pairwise(values))

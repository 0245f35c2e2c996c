"""The last micro-batches of each epoch reach no step: they are too few for one, and their gradients are cleared.

What it does: follows the gradient of one parameter of the only optimizer. Where each step takes the same number of
backward passes, and fewer than that are cleared away after equally many passes each time, an accumulation ends with an
incomplete window that no step takes. Told where these are a twentieth of all and more and the epochs come in the same
order, so that the same samples are never used, or where they are a third and more.

Why it matters: the work for them is thrown away. Sorted data lose their longest samples, whole tasks or classes.

Left alone: steps of unequal windows (the last one is used), gradients that wait for the next epoch, skipped steps.

Fix: step at the last batch of an epoch, too, whatever its window holds; or have the loader drop what makes no window.

Bad:

    optimizer.zero_grad()
    for i, batch in enumerate(loader):
        (loss_of(batch) / 8).backward()
        if (i + 1) % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()

Good:

    for i, batch in enumerate(loader):
        (loss_of(batch) / min(8, len(loader) - i // 8 * 8)).backward()
        if (i + 1) % 8 == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import Told, latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.exit_status.enclosing_statements import enclosing
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.dynamic.samples.training_passes import training_loaders
from diagnostics.record.marks.loss_marks import DroppedWindows

CODE = "D965"
NAME = "last-window-dropped"
CLASS = "gradients-lost"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST, LEAST_SHUFFLED = 0.05, 1 / 3  # of all passes


def match(job: Job) -> Match | None:
    """Returns the optimizer that lacks the last passes of each epoch."""
    found = [one for one in latest(job, DroppedWindows, lambda mark: mark.optimizer) if _is_much(one)]
    if not found:
        return None
    first = found[0]
    mark, process = first.mark, first.process
    passed, stepped = own(process, mark.backward)[:1], own(process, mark.path)[:1]
    same = _keeps_order(process)
    which = "; they are the same samples each time, and no step uses them" if same else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The last {mark.lost} of each {mark.every} backward passes are thrown away: a step takes {mark.size}, "
        f"and the gradients of fewer are cleared{which}",
        evidence=[
            Evidence(
                source=f"gradient of one parameter, up to step {mark.step}",
                observed=f"cleared {mark.drops} times after {mark.lost} passes, with no step since {mark.lost} passes",
                expected=f"a step of these {mark.lost}, as of {mark.size} before",
            )
        ],
        fix="step at the last batch of an epoch as well, with the loss divided by what this window holds; or drop the "
        "rest in the loader, where it is shuffled anew",
        places=(*_tests(job, stepped), *stepped, *passed),
        confidence=Confidence.CONFIRMED,
    )


def _is_much(told: Told[DroppedWindows]) -> bool:
    mark = told.mark
    if not mark.size < mark.every or not 0 < mark.lost < mark.size:
        return False
    return mark.lost >= (LEAST if _keeps_order(told.process) else LEAST_SHUFFLED) * mark.every


def _keeps_order(process: JobProcess) -> bool:
    """Whether two whole passes of a loader that trained gave the same batches in the same order."""
    return any(
        one.is_whole and other.is_whole and one.order == other.order
        for loader in training_loaders(process)
        for one, other in pairwise(loader.passes)
    )


def _tests(job: Job, stepped: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the tests around the line of the step, in its function, the innermost first."""
    for frame in stepped:
        around = enclosing(job.sources.file(frame.file), frame)
        tests = [
            level.statement.lineno
            for level in (around.levels if around is not None else ())
            if isinstance(level.statement, ast.If)
        ]
        return tuple(Frame(file=frame.file, line=line, function=frame.function) for line in tests[:-3:-1])
    return ()

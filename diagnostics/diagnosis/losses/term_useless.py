"""A term of the loss leads only to what another optimizer trains, and what it leaves there is thrown away.

What it does: follows, in a few backward passes, each term of the loss to the parameters that it leads to. Told where
one leads to none that the step after it changes, but to those of another optimizer, whose gradients are cleared before
that one steps.

Why it matters: the step learns nothing from that term. So it is with the adversarial term of a generator's loss that is
computed on the detached picture: it has a graph, that of the discriminator, and none to the generator, which learns
from its other terms alone. Losses fall, and nothing fails. Left alone: terms that another one joins to what learns,
sums of losses whose optimizers all step, gradients that are kept until the other optimizer's step.

Bad:

    g_loss = gan_loss(D(fake.detach()), True) + l1(fake, real)   # for D's own loss alone

Good:

    g_loss = gan_loss(D(fake), True) + l1(fake, real)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import Told, latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import TermUseless

CODE = "D978"
NAME = "term-useless"
CLASS = "gradients-lost"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST = 2  # looks
MOST_BEFORE = 40  # lines
_CUT = re.compile(r"\.detach\(\)|\.data\b|\bno_grad\(")
_PASS = re.compile(r"\.backward\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose loss has such a term."""
    found = [one for one in latest(job, TermUseless, lambda mark: mark.optimizer) if one.mark.run >= LEAST]
    if not found:
        return None
    first = found[0]
    mark, backward = first.mark, own(first.process, first.mark.path)[:1]
    cut = _cut_before(job, backward)
    at = f" at {job.line(backward[0])}" if backward else ""
    which = "A term" if mark.useless == 1 else f"{mark.useless} terms"
    lead = "leads" if mark.useless == 1 else "lead"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{which} of the loss{at} {lead} to nothing that the step after it changes, only to parameters of "
        "another optimizer, where the gradients are cleared before they are used",
        evidence=[
            Evidence(
                source=f"parameters behind each of {mark.terms} terms, {mark.run} looks",
                observed=f"{mark.useless} without one that this step changes" + _held(first),
                expected="each term with a way to what is trained by it",
            )
        ],
        fix="compute that term on the output itself, and detach() it only where the other model's own loss is computed",
        places=(*cut, *backward),
        confidence=Confidence.LIKELY,
    )


def _held(told: Told[TermUseless]) -> str:
    made = {one.model.optimizer: one.model for one in told.process.prints.looks}
    own_model, other = made.get(told.mark.optimizer), made.get(told.mark.other)
    if own_model is None or other is None or not own_model.names or not other.names:
        return ""
    return f": it trains {own_model.names[0]} ..., they lead to {other.names[0]} ..."


def _cut_before(job: Job, backward: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the line above the backward pass, and below the pass before, that cuts a graph."""
    if not backward:
        return ()
    lines = job.sources.file(backward[0].file).lines
    for number in range(backward[0].line - 1, max(0, backward[0].line - MOST_BEFORE), -1):
        text = lines[number - 1].partition("#")[0] if number <= len(lines) else ""
        if _CUT.search(text):
            return (Frame(file=backward[0].file, line=number, function=backward[0].function),)
        if _PASS.search(text):
            break
    return ()

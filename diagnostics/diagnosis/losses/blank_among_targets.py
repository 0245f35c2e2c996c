"""A CTC loss is given targets that hold its blank: that letter is trained as "nothing", and is never read.

What it does: reads, where a CTC loss is taken of a training, its targets up to their lengths. Told where a hundredth of
the labels and more have the number that the loss takes for the blank.

Why it matters: the blank says that a frame has no letter, and decoding leaves it out. A letter of the alphabet with its
number can never come out again, and the paths that the loss sums up are counted twice: it may even become negative.
Nothing fails; the error rate stays where the letter's share is. Left alone: padding behind the lengths.

Fix: number the letters from 1, or give the blank a number of its own (`blank=len(alphabet)`), and one output more.

Bad:

    index = {letter: i for i, letter in enumerate(alphabet)}   # "a" is 0
    criterion = nn.CTCLoss(blank=0)

Good:

    index = {letter: i for i, letter in enumerate(alphabet, start=1)}
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import BlankTargets

CODE = "D973"
NAME = "blank-among-targets"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_SHARE = 0.01  # of the labels
_MADE = re.compile(r"\bCTCLoss\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose CTC loss is given its blank."""
    found = [one for one in latest(job, BlankTargets) if one.mark.blanks >= LEAST_SHARE * one.mark.labels]
    if not found:
        return None
    labels, blanks = (sum(getattr(one.mark, name) for one in found) for name in ("labels", "blanks"))
    first = found[0]
    path = own(first.process, first.mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{blanks / labels:.0%} of the labels given to the CTC loss{at} are {first.mark.blank}, its blank: what "
        "has this number is trained as nothing and is never read out",
        evidence=[
            Evidence(
                source=f"targets of {first.mark.calls} calls of ctc_loss",
                observed=f"{blanks} of {labels} labels are {first.mark.blank}",
                expected=f"none, as {first.mark.blank} is the blank",
            )
        ],
        fix="number the letters past the blank (enumerate(alphabet, start=1)), or give the blank a number that no "
        "letter has, with one output of the model for each",
        places=(*path[:1], *nearest(job, first.process, _MADE, path)[:1], *path[1:]),
        confidence=Confidence.CONFIRMED,
    )

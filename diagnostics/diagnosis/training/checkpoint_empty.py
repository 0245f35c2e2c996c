"""A checkpoint was written whose model has not one entry.

What it does: looks at what `torch.save` is given after the first step. Where the whole, or what is named like the state
of a model in it, is a dictionary without entries, and no rank ever wrote that file with any, there is nothing to resume
from.

Why it matters: the job says that it saved; the file is there. A full state of FSDP is empty on all ranks but the first.

Fix: save on the rank that gathers the state, and check `len(state)` before it is written.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import SavedFile

CODE = "D911"
NAME = "checkpoint-empty"
CLASS = "corrupt-checkpoint"
EXAMINES = AppliesTo.ANY


def match(job: Job) -> Match | None:
    """Returns the ranks that saved a model without entries, where none saved one with any."""
    saved = [Told(process, mark) for process in job.ranks for mark in process.prints.marks_of(SavedFile)]
    found = [one for one in saved if one.mark.empty and one.mark.step]
    if not found or len(found) < len(saved):
        return None  # of several files one may hold what is not there yet
    first = found[0]
    path = own(first.process, first.mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{first.mark.file.rpartition('/')[2]} was saved{at} with a model that has no entry",
        evidence=[
            Evidence(
                source=f"torch.save to {first.mark.file} after {first.mark.step} steps",
                observed="the state of the model is an empty dictionary",
                expected="an entry for each parameter",
            )
        ],
        fix="save on the rank that has the state, and raise where it is empty",
        places=path,
        confidence=Confidence.CONFIRMED,
    )

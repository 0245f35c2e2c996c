"""Optimizers made steps, and none of their parameters ever had a gradient.

What it does: knows from every rank that its optimizers stepped and that not one of their parameters had a gradient in
any of these steps, though the backward pass ran. Names where the optimizer was made.

Why it matters: the loss is printed, checkpoints are written, and the model that ends is the one that began. The usual
cause is an optimizer of parameters that the model does not have any more: after FSDP's `fully_shard`, a deep copy, a
head that was replaced.

Fix: make the optimizer last, of the parameters of the model that runs.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import names_of, path_evidence
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.learning import lessons
from diagnostics.record.agent_data import LifecycleEvent

CODE = "D411"
NAME = "steps-without-gradients"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED

_FIX = "make the optimizer last, of the parameters of the model that runs: after fully_shard, .to() and copies"


def match(job: Job) -> Match | None:
    """Returns the job whose optimizers never had a gradient to use, on every rank that made steps."""
    trained = [process for process in job.ranks if process.agent is not None and process.steps]
    told = [(process, event) for process in trained if (event := _told(process)) is not None]
    if not told or len(told) < len(trained) or not any(_backwards(process) for process in trained):
        return None
    if any(one.erased for one in lessons(job)):
        return None  # they were there after the backward pass
    first, said = told[0]
    made = first.agent.last_event("optimizer") if first.agent is not None else None
    path = user_frames(made.path, agent_folder=first.agent_folder) if made is not None else ()
    wrapped = first.agent.last_event("ddp") if first.agent is not None else None
    around = user_frames(wrapped.path, agent_folder=first.agent_folder) if wrapped is not None else ()
    locations = distinct([job.line(frame) for frame in (*path[:3], *around[:1])])
    title = "The job says success, but no optimizer step had a gradient"
    if locations:
        title += f": the optimizer of {locations[0]} holds other parameters than the model that ran"
    return blamed(
        job,
        trained,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=title,
        evidence=[
            Evidence(
                source=f"{names_of([first])}: optimizer steps, and parameters with a gradient in them",
                observed=f"{first.steps} steps ({said.text}), none",
                expected="some in each step",
            ),
            *path_evidence(job, "the optimizer was made", path),
        ],
        fix=Fix(text=_FIX),
        locations=locations,
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.SILENT_WRONG,
    )


def _told(process: JobProcess) -> LifecycleEvent | None:
    return process.agent.last_event("no-gradients") if process.agent is not None else None


def _backwards(process: JobProcess) -> int:
    return process.agent.steps.backwards if process.agent is not None else 0

"""The job says success, and no optimizer step was made on any rank.

What it does: where an optimizer was made and no optimizer step followed anywhere, names the loader that was empty, the
epoch loop that did not run (a resumed epoch that is the last one, an early return), or the condition that left out each
step (more accumulation steps than batches). Backward passes alone may be updates by hand: without a condition, silent.
So is a resumed run that says itself that nothing was left to do.

Why it matters: the checkpoint that is written is the initial one. Runs that only evaluate make no optimizer.

Fix: check len(loader) before the loop, drop_last, filters of the dataset, and the epoch that a checkpoint resumes at.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.asked_work import asked_for_no_training, went_on
from diagnostics.dynamic.failures.masked_errors import hidden_error
from diagnostics.dynamic.failures.teardown import is_teardown
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.job.said_of_itself import says_nothing_is_left
from diagnostics.record.agent_data import LifecycleEvent
from diagnostics.static.program.exception_flow import training_functions, training_loops
from diagnostics.static.torch_code.optimizer_step_guards import step_conditions

CODE = "D410"
NAME = "nothing-trained"
CLASS = "zero-progress"
MOST_OF_A_MESSAGE = 160
EXAMINES = AppliesTo.SUCCEEDED

_SKIPPED = "the model ran, and each iteration ended before the backward pass"
_NO_BACKWARD = "the model ran, and no backward pass came after it"
_STEPLESS = (
    "see why the condition never let a step through: more accumulation steps than batches, values that are skipped"
)
_RAISED = "mend what the model raises, and let a handler answer only what it was made for (torch.OutOfMemoryError)"
_EMPTY = "check how many samples filters and drop_last leave, and stop with an error at len(loader) == 0"
_UNENTERED = "check the range of the loop (a resumed epoch, a step limit) and the returns before it"


def match(job: Job) -> Match | None:
    """Returns the job that trained nothing, where every rank was watched and meant to train."""
    ranks = [process for process in job.ranks if process.agent is not None]
    if not ranks or len(ranks) != len(job.ranks):
        return None
    if any(one.failed and not is_teardown(job, one) for one in ranks):
        return None  # it trained nothing since it failed, which its parent dealt with or hid
    here = [one for one in job.processes if _is_of(one, ranks)]
    if any(one.steps for one in here):
        return None
    begun = [process for process in ranks if _made(process, "optimizer") is not None]
    if not begun or asked_for_no_training(job, begun[0]):
        return None
    if went_on(job) and says_nothing_is_left(job.output):
        return None  # a run that had ended was started again, and says so
    if any(hidden_error(job, process) is not None for process in ranks):
        return None  # an exception explains it better
    process = begun[0]
    loops = _loops(job, process)
    if not loops:
        return None  # no file of the job's holds a loop that trains: nothing says that it was to
    iterated = _made(process, "loader-iter") if _by_batches(job, process) else None
    loader = _frame(process, _made(process, "dataloader"))
    backwards = sum(_backwards(one) for one in here)
    conditions = _conditions(job, process)
    if backwards and not conditions:
        return None  # it may update its parameters by hand
    ran = any(one.agent is not None and one.agent.entered for one in ranks)
    stepless = backwards or (conditions and ran)
    frames: list[Frame | None]
    raised = None if backwards else _from_forward(ranks)
    if raised is not None:
        frames = [*raised.user_path[:1], *conditions, *loops]
        cause = f"each forward pass ended in {' '.join(raised.text.split())[:MOST_OF_A_MESSAGE]}, and was left out"
    elif stepless:
        frames = [*conditions, *loops]
        cause = f"{backwards} backward passes, and the step was left out each time" if backwards else _SKIPPED
    elif iterated is not None:
        at = _frame(process, iterated)
        frames, cause = [loader, at, *loops], "the loader gave no batch"
    else:
        frames, cause = [*loops, loader], _NO_BACKWARD if ran else "the training loop was never entered"
    fix = _RAISED if raised is not None else _STEPLESS if stepless else _EMPTY if iterated is not None else _UNENTERED
    locations = distinct([job.line(frame) for frame in frames if frame is not None])
    return blamed(
        job,
        begun,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The job says success, but no rank made an optimizer step: {cause} ({locations[0]})",
        evidence=[
            Evidence(
                source="optimizer steps and backward passes of every rank",
                observed=f"0 and {backwards}",
                expected="more",
            ),
            *(source_evidence(job, frames[0]) if frames[0] is not None else ()),
        ],
        fix=Fix(text=fix),
        locations=locations,
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.SILENT_WRONG,
    )


def _is_of(process: JobProcess, ranks: Sequence[JobProcess]) -> bool:
    """Whether a process is of this training: not of another one, which was over before this one began."""
    before = process.end.at_s is not None and process.end.at_s <= min(one.began_s for one in ranks)
    return not before or any(set(process.argv) <= set(one.argv) for one in ranks)  # the same, started again


def _backwards(process: JobProcess) -> int:
    return process.agent.steps.backwards if process.agent is not None else 0


def _from_forward(ranks: Sequence[JobProcess]) -> ExceptionRecord | None:
    """Returns what came out of the model on every rank, and somebody caught; None where it did not on one."""
    found = [
        next((one for one in reversed(process.raised) if one.how is ExceptionSource.FORWARD and one.user_path), None)
        for process in ranks
    ]
    return found[0] if None not in found else None


def _conditions(job: Job, process: JobProcess) -> list[Frame]:
    """Returns the `if`s in the files that ran on which a step depends."""
    files = job_sources(job, process)
    trained_by = training_functions(file for _, file in files)
    return [
        Frame(file=name, line=line, function="") for name, file in files for line in step_conditions(file, trained_by)
    ]


def _made(process: JobProcess, kind: str) -> LifecycleEvent | None:
    """Returns the first event of a kind."""
    events = process.agent.events if process.agent is not None else ()
    return next((event for event in events if event.kind == kind), None)


def _frame(process: JobProcess, event: LifecycleEvent | None) -> Frame | None:
    folder = process.agent_folder
    frames = user_frames(event.path, agent_folder=folder) if event is not None else ()
    return frames[0] if frames else None


def _by_batches(job: Job, process: JobProcess) -> bool:
    """Whether a training loop goes over batches: one over a range or a condition does not end by an empty loader."""
    files = job_sources(job, process)
    trained_by = training_functions(file for _, file in files)
    loops = [loop for _, file in files for loop in training_loops(file, trained_by)]
    return any(not isinstance(loop, ast.While) and "range(" not in ast.unparse(loop.iter) for loop in loops)


def _loops(job: Job, process: JobProcess) -> list[Frame]:
    """Returns the training loops in the files that ran, outermost first."""
    files = job_sources(job, process)
    trained_by = training_functions(file for _, file in files)
    return [
        Frame(file=name, line=loop.lineno, function="")
        for name, file in files
        for loop in training_loops(file, trained_by)
    ]

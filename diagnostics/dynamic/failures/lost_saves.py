"""A save that failed and of which nobody heard: kept by a handler, or left in a thread or a future. Pure."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.failures.training_code import CONTROL, stepped_after
from diagnostics.dynamic.failures.unasked_results import as_in_its_child
from diagnostics.dynamic.job.exceptions import split_error
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, LoadFailure
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.dynamic.job.process_queries import events_of
from diagnostics.record.training_marks import SavedFile
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import catching, goes_on_raising, hiding_line, suppresses, with_around
from diagnostics.static.program.open_writes import saves_by_name, saves_in, writes_from

SAVING = ("torch.save", "safetensors.torch.save_file")
_STATE = re.compile(r"state|model|net|ckpt|checkpoint|weight|optim|last|final|best|epoch|step", re.IGNORECASE)
_OTHER_WAYS = re.compile(
    r"(?:^|\.)(?:savez\w*|save_pretrained|save_file|save_model|async_save|savetxt|to_hdf)$"
    r"|^(?:np|numpy|jnp|dcp|joblib|jit|torch\.jit|checkpoint)\.(?:save|dump)$|^(?:pickle|joblib|dill|cloudpickle)\.dumps?$"
)
MOST_TOLD = 60  # good saves of a process that its agent tells of


@dataclass(frozen=True, slots=True, kw_only=True)
class LostSave:
    """The last save of a process. `hiding` is the `try` or `with suppress(...)` that kept its failure, if one did."""

    raised: ExceptionRecord
    hiding: Frame | None


def lost_save(job: Job, process: JobProcess) -> LostSave | None:
    """Returns the last save that failed, where the work since the last good one was written nowhere.

    None where a save came after it, where nothing was trained since a good one, where the handler itself writes, and
    where the program has other ways of writing, of which nobody tells whether they came to a good end.
    """
    failed = next((one for one in reversed(process.loads) if one.function in SAVING), None)
    if failed is None or failed.file.startswith(("<", "/dev/")) or not _trained_before(job, process, failed):
        return None
    own = user_frames(failed.path, agent_folder=process.agent_folder)
    if (
        not own
        or _is_kept(job, process, failed)
        or not _is_a_state(job, failed, own[0])
        or _writes_otherwise(job, process)
    ):
        return None
    kind, message = split_error(failed.error)
    raised = ExceptionRecord(
        how=ExceptionSource.CAUGHT, at_s=failed.at_s, type=kind, message=message, path=failed.path, user_path=own
    )
    for frame in own:
        source = job.sources.file(frame.file)
        around = with_around(source, frame.line)
        block = catching(source, frame.line)
        if around is not None and suppresses(around) and (block is None or block.lineno < around.lineno):
            return LostSave(raised=raised, hiding=Frame(file=frame.file, line=around.lineno, function=frame.function))
        if block is None or (block.handlers and goes_on_raising(block)):
            continue
        if any(saves_in(handler.body) for handler in block.handlers):
            return None  # another way of keeping it
        hiding = Frame(file=frame.file, line=hiding_line(block), function=frame.function)
        return LostSave(raised=raised, hiding=hiding)
    return LostSave(raised=raised, hiding=None)


def _trained_before(job: Job, process: JobProcess, failed: LoadFailure) -> bool:
    first_s = process.agent.steps.first_s if process.agent is not None else None
    if process.agent is None or first_s is None:
        return process.steps > 0
    return job_time(job.facts, process.agent, first_s) < failed.at_s


def _is_a_state(job: Job, failed: LoadFailure, at: Frame) -> bool:
    """Whether what was to be saved is the model's, by the words of the call and of the file."""
    lines = job.sources.file(at.file).lines[at.line - 1 : at.line + 2]
    return bool(_STATE.search(" ".join((*lines, failed.file.rpartition("/")[2]))))


def _writes_otherwise(job: Job, process: JobProcess) -> bool:
    """Whether the program has another way of keeping arrays or objects, whose good ends nobody tells."""
    calls = (
        ast.unparse(node.func)
        for _, source in job_sources(job, process)
        for node in (walk(source.tree) if source.tree is not None else ())
        if isinstance(node, ast.Call)
    )
    return any(_OTHER_WAYS.search(name) for name in calls)


def _is_kept(job: Job, process: JobProcess, failed: LoadFailure) -> bool:
    """Whether a file of the job's may hold what was trained until then: one written later, or none trained since."""
    if any(event.text != SAVING[0] for one in job.processes for event in events_of(one, "checkpoint")):
        return True  # of a kind whose good ends nobody tells
    good = [mark for one in job.processes for mark in one.prints.marks_of(SavedFile)]
    if not good:
        return False
    if len(good) >= MOST_TOLD or process.agent is None:
        return True
    failed_ns = job.facts.started_ns + failed.at_s * 1e9
    last_s = process.agent.steps.last_s
    trained_on = last_s is not None and job_time(job.facts, process.agent, last_s) > failed.at_s
    return trained_on or any(mark.ended_ns > failed_ns or mark.step >= process.steps for mark in good)


def unsaved_error(job: Job, process: JobProcess) -> ExceptionRecord | None:
    """Returns what ended a thread, or stayed in a future that nobody asked, when it was to write a file."""
    saves = [load for load in process.loads if load.function in SAVING]
    failed = {load.path[:1] for load in saves if load.path}
    for one in reversed(process.raised):
        raised = as_in_its_child(job, process, one)
        if raised is not one and stepped_after(job, process, raised):
            continue  # the parent did by itself what its child had failed at
        unwritten = raised.how is ExceptionSource.UNASKED and not CONTROL.search(raised.type)
        if unwritten and any(writes_from(job.sources.file(one.file), one.line) for one in raised.user_path):
            return raised
        began = _started_at(process, raised) if unwritten and not raised.user_path else ()
        if began and saves_by_name(job.sources.file(began[0].file), began[0].line):  # a library's own thread
            return replace(_first_of(process, began) or raised, how=raised.how, user_path=began)
        lost = raised.how in (ExceptionSource.THREAD, ExceptionSource.UNASKED)
        if lost and raised.user_path and any(raised.user_path[0] == frame for path in failed for frame in path):
            return raised
        if lost and not raised.user_path and any(save.error == raised.text for save in saves):
            return replace(raised, user_path=_started_at(process, raised))  # Thread(target=torch.save)
    return None


def _first_of(process: JobProcess, began: tuple[Frame, ...]) -> ExceptionRecord | None:
    """Returns the first exception without a line of the job's, after a thread was started there."""
    return next((one for one in process.raised if not one.user_path and _started_at(process, one) == began), None)


def _started_at(process: JobProcess, raised: ExceptionRecord) -> tuple[Frame, ...]:
    """Returns the user's path to the start of the latest thread before an exception."""
    events = process.agent.events if process.agent is not None else ()
    started = [one for one in events if one.kind == "thread" and one.sequence < raised.sequence]
    return user_frames(started[-1].path, agent_folder=process.agent_folder) if started else ()

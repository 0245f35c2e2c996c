"""Exceptions in the results of a pool or an executor that nobody asked for when the process ended well. Pure."""

from __future__ import annotations

from dataclasses import replace

from diagnostics.dynamic.failures.training_code import CONTROL, ends_training, stepped_after, trained_in
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.static.program.exception_flow import loop_follows


def unasked_training(job: Job, process: JobProcess) -> ExceptionRecord | None:
    """Returns what ended a training loop, or kept it from beginning, in a result that nobody asked for."""
    trained_by = trained_in(job, process)
    for raised in reversed(process.raised):
        if raised.how is not ExceptionSource.UNASKED or CONTROL.search(raised.type):
            continue
        found = as_in_its_child(job, process, raised)
        if found is not raised and stepped_after(job, process, found):
            continue  # the parent did by itself what its child had failed at
        begun = any(loop_follows(job.sources.file(one.file), one.line, trained_by) for one in found.user_path)
        if begun or ends_training(job, process, found):
            return found
    return None


def as_in_its_child(job: Job, process: JobProcess, raised: ExceptionRecord) -> ExceptionRecord:
    """Returns an exception with the path that the process of a pool told of, where it came from one."""
    if raised.user_path:
        return raised
    told = (one for child in job.children_of(process) for one in child.raised if one.how is ExceptionSource.WORKER)
    path = next((one for one in told if one.text == raised.text and one.user_path), raised)
    return raised if path is raised else replace(raised, path=path.path, user_path=path.user_path, at_s=path.at_s)


def unasked_in_pool(job: Job) -> list[tuple[JobProcess, ExceptionRecord]]:
    """Returns what ended the training of processes of a pool whose parent never asked for their results."""
    for process in job.processes:
        if process.part is not ProcessRole.LAUNCHER or process.failed or process.agent is None:
            continue
        raised = unasked_training(job, process)
        told = [
            child
            for child in job.children_of(process)
            if raised is not None and any(one.text == raised.text for one in child.raised)
        ]
        if told:
            return [(one, raised) for one in told if raised is not None]
    return []

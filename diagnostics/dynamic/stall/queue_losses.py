"""Objects that a queue of multiprocessing could not send: its feeder prints an error, and the reader waits. Pure.

`Queue.put` only hands the object to a thread of the same process, which pickles it later. Where that fails nothing is
raised in the code that called `put`; a traceback is printed and the object is gone. A DataLoader's batch goes the same
way, so that a result of `collate_fn` or of the dataset that cannot be pickled is a batch that never comes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import ExceptionRecord, ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.job.process_list import words
from diagnostics.dynamic.stall.wait_cause import WaitKind
from diagnostics.dynamic.stall.wait_chain import wait_chain
from diagnostics.static.program.ast_walk import walk

_QUEUES = "/multiprocessing/queues.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentObject:
    """One object that was lost. `rank` is the process that waits for it or that sent it, a rank where there is one."""

    process: JobProcess  # whose feeder failed
    rank: JobProcess
    raised: ExceptionRecord
    frames: tuple[Frame, ...]  # lines of the job that made or send such objects, best first


def lost_objects(job: Job) -> tuple[UnsentObject, ...]:
    """Returns what was lost by data workers for which their rank waits, then by queues of other processes."""
    workers = [one for one in job.processes if one.part is ProcessRole.DATA_WORKER]
    found = []
    for worker in workers:
        rank = job.of_pid(worker.parent_pid)
        raised = next(
            (one for one in reversed(worker.raised) if one.how is ExceptionSource.PRINTED and not one.user_path), None
        )
        if rank is None or raised is None or wait_chain(job, rank).kind is not WaitKind.DATA_WORKER:
            continue
        found.append(UnsentObject(process=worker, rank=rank, raised=raised, frames=_of_batches(job, rank)))
    if found:
        return tuple(found)
    return tuple(
        UnsentObject(process=one, rank=one, raised=raised, frames=())
        for one in job.processes
        for raised in one.raised
        if raised.how in (ExceptionSource.PRINTED, ExceptionSource.OUTPUT)
        and any(_is_feeder(frame) for frame in raised.path)
    )


def _is_feeder(frame: Frame) -> bool:
    return frame.file.endswith(_QUEUES) and frame.function.rpartition(".")[2] == "_feed"


def _of_batches(job: Job, rank: JobProcess) -> tuple[Frame, ...]:
    """Returns where batches are made: the collate function, the dataset's item, the DataLoader, its loop."""
    agent = rank.agent
    if agent is None:
        return ()
    made, begun = agent.last_event("dataloader"), agent.last_event("loader-iter")
    made_at = user_frames(made.path, agent_folder=agent.agent_folder)[:1] if made is not None else ()
    begun_at = user_frames(begun.path, agent_folder=agent.agent_folder)[:1] if begun is not None else ()
    collate = _collate_named(job, made_at[0]) if made_at else ""
    dataset = words(begun.text).get("dataset", "") if begun is not None else ""
    own = (*_defined(job, collate, None), *_defined(job, "__getitem__", dataset))
    return (*own, *made_at, *begun_at)


def _collate_named(job: Job, made_at: Frame) -> str:
    """Returns the function that a DataLoader was given to make its batches, "" where it was given none by name."""
    statement = job.sources.file(made_at.file).statement_at(made_at.line)
    for node in walk(statement) if statement is not None else ():
        if isinstance(node, ast.keyword) and node.arg == "collate_fn":
            value = node.value.func if isinstance(node.value, ast.Call) else node.value
            return value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")
    return ""


def _defined(job: Job, name: str, owner: str | None) -> tuple[Frame, ...]:
    """Returns where the one function of this name is defined, in the class `owner` where one is given."""
    found = []
    for file, source in job_sources(job):
        for node in walk(source.tree) if name and source.tree is not None else ():
            if owner is None:
                inside = [node]
            else:
                inside = [*node.body] if isinstance(node, ast.ClassDef) and node.name == owner else []
            found += [
                Frame(file=file, line=one.lineno, function=name)
                for one in inside
                if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == name
            ]
    return tuple(found) if len(found) == 1 else ()

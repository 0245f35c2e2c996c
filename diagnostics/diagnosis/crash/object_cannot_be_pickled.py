"""An object could not be sent to a process that was spawned.

What it does: names the object (a lambda, a local function, a lock, an open file, a class of __main__) and the line that
hands it to mp.spawn, Process.start or a DataLoader with spawned workers, or that makes it.

Where a queue could not send it, nothing is raised: a batch of a data worker, or a result, never comes and its reader
waits for ever.

Why it matters: fork hides it, spawn (the default on other systems, and needed with CUDA) does not; the traceback ends
in multiprocessing's reduction.py, or in a child that cannot find the name.

Fix: define it at the top of a module, or make it in the child; send nothing through a queue that cannot be pickled.
"""

from __future__ import annotations

import ast
import re

from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.file_errors import calls_load
from diagnostics.dynamic.failures.pickling_purpose import TO_FILE, TO_RANKS, pickling_purpose
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, raised_on, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    names_of,
    path_evidence,
    primary_failures,
    source_evidence,
    stood_still,
)
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.stall.queue_losses import lost_objects

CODE = "D270"
NAME = "object-cannot-be-pickled"
CLASS = "pickling-failure"
EXAMINES = AppliesTo.FAILED

_TEXT = re.compile(
    r"Can't (?:pickle|get) local object '?([\w.<>]+)'?|Can't pickle <?(?:local object |function |class )?([^:>]{1,200})"
    r"|[Cc]annot pickle '?([\w. ]+?)'? (?:object|instances)|Can't get attribute '([\w.]+)' on <module '?([\w.]+)"
    r"|(\b\w{1,80} objects) should only be shared between processes through inheritance"
    r"|it's not the same object as ([\w.]+)|cannot be pickled|can't pickle ([\w. ]+) objects"
)
_THROUGH = ("/multiprocessing/", "/pickle.py", "/copyreg.py", "/torch/utils/data/dataloader.py", "/concurrent/futures/")
_NEVER = re.compile(r"UnpicklingError|weights_only|torch\.load")


def match(job: Job) -> Match | None:
    """Returns the first object that could not be sent, told by the sender or by a child that could not take it."""
    for process in sorted((*primary_failures(job), *_children(job)), key=ended_s):
        error = root_exception(job, process)
        text = error.text if error is not None else ""
        found = _TEXT.search(text)
        if error is None or found is None or _NEVER.search(text) or calls_load(job, error.frame):
            continue
        through = any(part in frame.file for frame in error.path for part in _THROUGH)
        if through or "pickle" in text.lower() or "Can't get attribute" in text:
            return _match(job, process, error, _thing(found))
    return _lost(job) if stood_still(job) else None


def _thing(found: re.Match[str]) -> str:
    """Returns the name of what could not be sent."""
    return next((group for group in found.groups() if group), "an object")


def _lost(job: Job) -> Match | None:
    """Returns the first object that a queue lost while its reader waited, and all ranks that lost one like it."""
    texts = [(one, _TEXT.search(f"{one.raised.type}: {one.raised.message}")) for one in lost_objects(job)]
    lost = [(one, found) for one, found in texts if found is not None]
    if not lost:
        return None
    first, found = lost[0]
    thing = _thing(found)
    made = _definition(job, thing)
    locations = distinct([job.line(frame) for frame in (*((made,) if made is not None else ()), *first.frames)])
    at = f" from {locations[0]}" if locations else ""
    what = "a batch" if first.frames else "an object"
    text = f"{first.raised.type}: {first.raised.message}"
    return blamed(
        job,
        [one.rank for one, _ in lost],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([one.process for one, _ in lost]))} lost {what}{at}: {thing} cannot be pickled, and "
        "who waits for it waits for ever",
        evidence=[
            *path_evidence(job, text, first.raised.path),
            *(source_evidence(job, made) if made is not None else ()),
        ],
        fix=Fix(text=f"send no {thing} through the queue: make it where it is used"),
        locations=locations,
        explains=[one.process.pid for one, _ in lost],
        confidence=Confidence.LIKELY,
        began_s=min(one.raised.at_s for one, _ in lost),
    )


def _children(job: Job) -> list[JobProcess]:
    return [one for one in job.processes if one.failed and one.uncaught is not None]


def _match(job: Job, carrier: JobProcess, error: RootException, thing: str) -> Match:
    process, purpose = raised_on(job, carrier, error), pickling_purpose(job, error.frame)
    made = _definition(job, thing)
    lines = locations_of(job, error)
    if not lines and (parent := job.of_pid(process.parent_pid)) is not None and parent.agent is not None:
        started = parent.agent.last_event("child")  # a child that could not find the name has no line of its own
        lines = distinct([job.line(frame) for frame in (started.path if started is not None else ())[:1]])
    locations = distinct([*lines[:1], job.line(made) if made is not None else "", *lines[1:]])
    at = f" at {locations[0]}" if locations else ""
    missing = error.message.startswith("Can't get attribute")
    what = f"{thing} is not found by the child" if missing else f"{thing} cannot be pickled"
    where = f", made at {job.line(made)}" if made is not None else ""
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of([process]))} could not {purpose}{at}: {what}{where}",
        evidence=[
            end_evidence(process),
            *path_evidence(job, error.text, error.frames or error.path),
            *(source_evidence(job, made) if made is not None else ()),
        ],
        fix=Fix(text=_advice(purpose, error, thing, missing)),
        locations=locations,
        explains=[error.process.pid, carrier.pid],
        began_s=error.at_s,
    )


def _advice(purpose: str, error: RootException, thing: str, missing: bool) -> str:
    if purpose == TO_RANKS:
        return f"leave {thing} out of what is sent: numbers, texts and tensors, or functions of an importable module"
    if missing or "<" in thing or "local" in error.message:
        return f"define {thing} at the top of an importable module"
    if purpose == TO_FILE:
        return f"leave {thing} out of what is saved, in state_dict() or __getstate__, and make it anew after loading"
    return f"make {thing} in the child (first use, or worker_init_fn), and leave it out in __getstate__"


def _definition(job: Job, thing: str) -> Frame | None:
    """Returns where `main.<locals>.collate` or `main.<locals>.<lambda>` is defined, None where that is not clear."""
    name = thing.rpartition(".")[2]
    owner = thing.rpartition(".<locals>")[0].rpartition(".")[2] if "<locals>" in thing else ""
    found = []
    for file, source in job_sources(job):
        for node in ast.walk(source.tree) if source.tree is not None else ():
            defined = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name
            if not defined and not (name == "<lambda>" and isinstance(node, ast.Lambda)):
                continue
            line = getattr(node, "lineno", 0)
            around = source.function_at(line - 1 if defined else line)
            if not owner or (around is not None and around.name == owner):
                found.append(Frame(file=file, line=line, function=name))
    return found[0] if len(found) == 1 else None

"""A communication hook of DistributedDataParallel that hands back what it was given: no gradient is averaged.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where a wrapper has a
communication hook, nothing went between the ranks for ten steps and more by the group's own counter, and what began as
equals drifts apart, the hook took DDP's all_reduce away and put nothing in its place.

Why it matters: DDP leaves the whole exchange to the hook and says nothing; each rank trains a model of its own. Hooks
that average now and then, or by hand, move the counter, and are left alone.

Bad:

    def clip_hook(state, bucket):
        future = torch.futures.Future()
        future.set_result(clip(bucket.buffer()))
        return future

Good:

    def clip_hook(state, bucket):
        clip(bucket.buffer())
        return default_hooks.allreduce_hook(state, bucket)
"""

from __future__ import annotations

import ast
import re

from diagnostics.core.findings import Confidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.replicas.source_lines import lines_like, own, text_of
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D534"
NAME = "hook-keeps-gradients"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_REGISTERS = re.compile(r"\bregister_comm_hook\(")
_NAMES_HOOK = re.compile(r"\bregister_comm_hook\(.{0,200}?,\s*(?:hook\s*=\s*)?(?:[\w.]*\.)?(\w+)\s*\)")


def match(job: Job) -> Match | None:
    """Returns the ranks whose hook exchanges nothing."""
    gap = unsynchronised(job, SyncGap.LOCAL_HOOK)
    if gap is None or gap.wrapper is None:
        return None
    first = gap.found.processes[0]
    registered = lines_like(job, first, _REGISTERS)[:1]
    handed_back = _returns(job, first, text_of(job, registered[0])) if registered else ()
    at = f" ({job.line(registered[0])})" if registered else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"the communication hook{at} hands back the rank's own gradients: nothing went between the ranks",
        fix="let the hook end with default_hooks.allreduce_hook(state, bucket), or all_reduce and divide its buffer",
        places=(*handed_back, *registered, *own(first, gap.wrapper.made)[:2]),
        confidence=Confidence.CONFIRMED if gap.measured else Confidence.LIKELY,
    )


def _returns(job: Job, process: JobProcess, text: str) -> tuple[Frame, ...]:
    """Returns the line at which the hook that this line registers gives its answer, and the one where it begins."""
    named = _NAMES_HOOK.search(text)
    for name, source in job_sources(job, process) if named is not None else ():
        for node in ast.walk(source.tree) if source.tree is not None else ():
            if isinstance(node, ast.FunctionDef) and named is not None and node.name == named[1]:
                ends = [one.lineno for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
                return tuple(Frame(file=name, line=line, function=node.name) for line in (*ends[-1:], node.lineno))
    return ()

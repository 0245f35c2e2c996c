"""Whether the program may exchange parameters later: calls of its own files that were not seen yet. Pure.

A loop that averages its ranks every thousand steps looks, before the first time, like one that never does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.replicas.replicas import Replicas

_AVERAGING = {"average_parameters", "average_parameters_or_parameter_groups", "sync_module_states"}
_SILENT = {*operations.CARRY_NOTHING}
_EXCHANGES = {*operations.COLLECTIVES, *operations.SENDS, *operations.BATCHES, *_AVERAGING} - _SILENT
_OTHERS = {"functools", "socket", "asyncio"}  # what they reduce, send and gather is no tensor


def may_yet_exchange(job: Job, found: Replicas) -> bool:
    """Whether a call that can carry tensors between ranks stands in the program and was not made so far."""
    return any(True for _ in _never_called(job, found))


def averaging_never_reached(job: Job, found: Replicas) -> tuple[Frame, ...]:
    """Returns the calls that exchange gradients by their own words, `all_reduce(p.grad)`, and were not made."""
    return tuple(
        Frame(file=name, line=call.lineno, function="")
        for name, call in _never_called(job, found)
        if any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(call))
    )


def _never_called(job: Job, found: Replicas) -> Iterator[tuple[str, ast.Call]]:
    seen = {
        (frame.file, frame.line)
        for process in found.processes
        for call in (process.agent.collectives if process.agent is not None else ())
        for frame in call.path
    }
    for name, file in job_sources(job, found.processes[0]):
        for call in ast.walk(file.tree or ast.Module(body=[], type_ignores=[])):
            if isinstance(call, ast.Call) and _exchanges(call):
                lines = range(call.lineno, (call.end_lineno or call.lineno) + 1)
                if not any((name, line) in seen for line in lines):
                    yield name, call


def _exchanges(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id=name):
            return name in _EXCHANGES
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return name in _EXCHANGES and owner not in _OTHERS
        case ast.Attribute(attr=name):
            return name in _EXCHANGES
    return False

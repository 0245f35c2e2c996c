"""The lines of a program that leave out the first batches of a loader. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name

_SLICE, _STOP = "islice", 2  # islice(iterator, first, stop)


def skipping_lines(job: Job, process: JobProcess) -> tuple[Frame, ...]:
    """Returns them, those inside of a loop first: that is the one over epochs, as a rule."""
    files = [(name, file.tree) for name, file in job_sources(job, process) if file.tree is not None]
    looped: list[Frame] = []
    all_of_them: list[Frame] = []
    for name, tree in files:
        inner = [loop for loop in walk(tree) if isinstance(loop, (ast.For, ast.While))]
        looped += [Frame(file=name, line=line, function="") for loop in inner for line in _lines(loop)]
        all_of_them += [Frame(file=name, line=line, function="") for line in _lines(tree)]
    return tuple(dict.fromkeys([*looped, *all_of_them]))


def _lines(below: ast.AST) -> Iterator[int]:
    for node in walk(below):
        match node:
            case ast.Call() if _skips(node):
                yield node.lineno
            case ast.If(test=test, body=[*_, ast.Continue()]) if _is_early(test):
                yield node.lineno


def _skips(call: ast.Call) -> bool:
    """Whether a call says by its name that it skips, or takes what an iterator has from somewhere on."""
    name = last_name(call.func)
    if name == _SLICE:
        stop = call.args[_STOP] if len(call.args) > _STOP else None
        return isinstance(stop, ast.Constant) and stop.value is None
    return name.startswith("skip") and bool(call.args or call.keywords)


def _is_early(test: ast.expr) -> bool:
    """Whether a test holds for what comes before a number."""
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    return any(isinstance(one, ast.Compare) and isinstance(one.ops[0], (ast.Lt, ast.LtE)) for one in parts)

"""Something that cannot be pickled goes to a spawned process.

What it does: flags lambdas, functions defined in functions and open files that are given to mp.spawn, to processes of a
"spawn" context, and to a DataLoader with multiprocessing_context="spawn": as argument, collate_fn, worker_init_fn, or
inside the data set.

Why it matters: a spawned process starts from nothing and gets everything pickled: "Can't pickle <function <lambda>>",
"cannot pickle '_io.TextIOWrapper' object". Under fork, on Linux, the same program runs; it fails on the day spawn is
chosen for CUDA's sake.

Bad:

    args.logbook = open(args.log, "a")
    mp.spawn(worker, args=(args,), nprocs=4)

Good:

    mp.spawn(worker, args=(args,), nprocs=4)     # worker opens the file itself

What it cannot see: what is inside objects of other libraries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.loader_workers import loaders
from diagnostics.static.torch_code.picklability import Unpicklable, inside_dataset, unpicklable

CODE = "A408"
NAME = "unpicklable-to-spawned"
SEVERITY = Severity.ERROR
WORDS = ("spawn",)
_SPAWNS = frozenset(["torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what cannot be pickled on its way to a spawned process."""
    for call, function in project.calls_in(file):
        values = list(_handed_over(call, function, project))
        for value in values:
            for one in unpicklable(value, function, project):
                yield _hit(file, project, call, one, "a spawned process")
    for loader in loaders(project):
        if loader.context == "spawn" and loader.function.file == file.shown:
            for word in ("collate_fn", "worker_init_fn", "sampler", "batch_sampler"):
                for one in unpicklable(loader.words.get(word), loader.function, project):
                    yield _hit(file, project, loader.call, one, "spawned workers")
            for one in inside_dataset(loader.dataset, loader.function, project):
                yield _hit(file, project, loader.call, one, "spawned workers")


def _hit(file: ProjectFile, project: Project, call: ast.Call, one: Unpicklable, whom: str) -> Violation:
    where = project.file_with(one.function)
    return violation(
        where,
        one.node,
        f"{one.what} is pickled for {whom} and cannot be: the start fails",
        one.fix,
        steps=(
            step(where, one.node, f"{one.what}"),
            step(file, call, f"it goes to {whom}"),
        ),
        confidence=Confidence.CONFIRMED,
    )


def _handed_over(call: ast.Call, function: Function, project: Project) -> Iterator[ast.expr]:
    """Yields what a call gives to a process that is spawned."""
    words = {one.arg: one.value for one in call.keywords}
    if project.name(call.func, function) in _SPAWNS:
        method = words.get("start_method", words.get("start_method"))
        if isinstance(method, ast.Constant) and method.value == "fork":
            return
        yield from call.args[:2]
        yield from (words[name] for name in ("fn", "args") if name in words)
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "Process" and _is_spawn(call.func.value, function):
        yield from (words[name] for name in ("target", "args", "kwargs") if name in words)


def _is_spawn(value: ast.expr, function: Function) -> bool:
    """Whether an expression is get_context("spawn")."""
    if isinstance(value, ast.Name):
        values = function.assigned.get(value.id, ())
        if not values and function.outer is not None:
            return _is_spawn(value, function.outer)
        return bool(values) and all(not isinstance(one, ast.Name) and _is_spawn(one, function) for one in values)
    if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("get_context") and value.args:
        first = value.args[0]
        return isinstance(first, ast.Constant) and first.value == "spawn"
    return False

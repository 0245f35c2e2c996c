"""Where a program itself writes a parameter after it was made: `self.loc.data.copy_(-mean)` in a forward pass. Pure."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name

_MAKING = frozenset(["__init__", "__post_init__", "reset_parameters", "setup", "build"])
_NO_PART = frozenset(["data", "module"])  # of a parameter's name
_NO_WRITES = frozenset(["requires_grad_", "retain_grad", "share_memory_", "register_hook"])
_MOST = 2


def parameter_writes(job: Job, process: JobProcess, names: Collection[str]) -> tuple[Frame, ...]:
    """Returns the first lines that write one of these parameters, but where its module is made.

    `names` are dotted, as named_parameters() has them.
    """
    names = {".".join(part for part in name.split(".") if not part.isdigit()) for name in names}
    found = (
        Frame(file=name, line=node.lineno, function=function.name)
        for name, file in job_sources(job, process)
        if file.tree is not None
        for function in walk(file.tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name not in _MAKING
        for node in _writes(function, names)
    )
    return tuple(dict.fromkeys(found))[:_MOST]


def _writes(function: ast.AST, names: Collection[str]) -> Iterator[ast.stmt | ast.expr]:
    for node in walk(function):
        written: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            written = [one for one in node.targets if isinstance(one, (ast.Attribute, ast.Subscript))]
        elif isinstance(node, ast.AugAssign):
            written = [node.target]
        elif isinstance(node, ast.Call) and _changes(last_name(node.func)):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            of_init = owner is None or (isinstance(owner, (ast.Name, ast.Attribute)) and last_name(owner) == "init")
            written = node.args[:1] if of_init or owner is None else [owner]  # init.normal_(x), x.normal_()
        if any(_is_one_of(one, names) for one in written) and isinstance(node, (ast.stmt, ast.expr)):
            yield node


def _changes(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__") and method not in _NO_WRITES


def _is_one_of(value: ast.expr, names: Collection[str]) -> bool:
    """Whether an expression is a parameter: `self.loc.data[0]` of "layers.0.loc", `net.module.head.weight`."""
    parts: list[str] = []
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        if isinstance(value, ast.Attribute) and value.attr not in _NO_PART:
            parts.append(value.attr)
        value = value.value
    if not parts or not isinstance(value, ast.Name) or (len(parts) == 1 and value.id != "self"):
        return False
    suffix = ".".join(reversed(parts))
    return any(name == suffix or name.endswith(f".{suffix}") for name in names)

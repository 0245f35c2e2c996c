"""Whether something in a piece of code may make the ranks wait for each other, or for a file. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_WAITS = re.compile(
    r"barrier|wait|sync|all_?reduce|all_?gather|broadcast|scatter|reduce|sleep|(?<![bB])lock|_first|rendezvous"
    r"|init_process|DistributedDataParallel|DDP|fully_shard|FSDP|launch|spawn|(?-i:\bProcess\b)|start_processes|poll|exit",
    re.IGNORECASE,
)
_WAIT_METHODS = {"join", "prepare", "result"}  # without arguments, of an accelerator, of a future


def waits(nodes: Iterable[ast.AST], function: Function, project: Project, depth: int = 2) -> bool:
    """Whether something in these nodes may make ranks wait for each other."""
    for node in nodes:
        for one in walk(node):
            if isinstance(one, ast.Call):
                if _may_wait(one, function, project):
                    return True
                if any(_calls_wait(target, project, depth) for target in project.targets(one, function)):
                    return True
            elif isinstance(one, ast.While) and asks_for_file(one.test):
                return True
    return False


def _may_wait(call: ast.Call, function: Function, project: Project) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr in _WAIT_METHODS:
        return call.func.attr == "prepare" or not call.args
    return _WAITS.search(last_name(call.func)) is not None or project.communicates(call, function)


def _calls_wait(function: Function, project: Project, depth: int) -> bool:
    calls = [one for one in function.own_nodes if isinstance(one, ast.Call)]
    if any(_may_wait(one, function, project) for one in calls):
        return True
    return depth > 0 and any(
        _calls_wait(target, project, depth - 1) for one in calls for target in project.targets(one, function)
    )


def asks_for_file(test: ast.expr) -> bool:
    """Whether a test asks if a file is there."""
    words = {last_name(one.func) for one in walk(test) if isinstance(one, ast.Call)}
    return bool(words & {"exists", "isfile", "is_file", "isdir", "is_dir"})

"""Whether a number was measured on the samples of one rank: a loss of a loader that is parted among them. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow.taint_sources import Taint
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.data_loaders import LOADER, sharded

_AROUND = ("enumerate", "tqdm", "iter", "zip", "islice")


def measured_on_own_share(found: Taint, project: Project) -> bool:
    """Whether what makes a value differ stands in a loop over a loader that gives each rank other samples."""
    node = found.syntax
    if node is None or found.file not in project.by_path:
        return False
    file = project.by_path[found.file]
    home = next((one for one in project.functions_in(file) if one.name == found.function), None)
    while node is not None and home is not None:
        if isinstance(node, (ast.For, ast.AsyncFor)) and reads_own_share(node.iter, home, project):
            return True
        node = file.parents.get(node)
    return False


def reads_own_share(over: ast.expr, function: Function, project: Project) -> bool:
    """Whether a loop goes over a loader whose sampler or data set knows the rank."""
    while isinstance(over, ast.Call) and last_name(over.func) in _AROUND and over.args:
        over = over.args[0]
    for value, where in origins(over, function, project):
        for call in (node for node in walk(value) if isinstance(node, ast.Call)):
            if project.name(call.func, where) != LOADER:
                continue
            given = {one.arg: one.value for one in call.keywords}
            sampler = given.get("sampler", given.get("batch_sampler"))
            if sampler is not None and _is_distributed(sampler, where, project):
                return True
            if sampler is None and sharded(call.args[0] if call.args else given.get("dataset"), where, project):
                return True
    return False


def _is_distributed(sampler: ast.expr, function: Function, project: Project) -> bool:
    return any(
        isinstance(node, ast.Call) and last_name(node.func).endswith("DistributedSampler")
        for value, _ in origins(sampler, function, project)
        for node in walk(value)
    ) or sharded(sampler, function, project)

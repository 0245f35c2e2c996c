"""Where a value comes from that is the rank on one machine: LOCAL_RANK, or the number that spawn hands out. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_VARIABLES = frozenset(["LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"])
_CALLS = frozenset(["get_node_local_rank", "get_local_rank"])
_SPAWNS = frozenset(["torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"])


def local_rank_origin(value: ast.expr, function: Function, project: Project) -> Origin | None:
    """Returns where a value is taken from, if it is the rank on one machine and nothing else; else None."""
    found = origins(_number(value), function, project)
    sources = [_source(one, where, project) for one, where in found]
    return sources[0] if sources and all(sources) else None


def _number(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.Call) and last_name(value.func) == "int" and len(value.args) == 1:
        return value.args[0]
    return value


def _source(value: ast.expr, function: Function, project: Project) -> Origin | None:
    value = _number(value)
    if isinstance(value, ast.Subscript) and last_name(value.value) == "environ":
        return (value, function) if _is_variable(value.slice) else None
    if isinstance(value, ast.Call):
        named = last_name(value.func)
        read = named in ("get", "getenv") and value.args and _is_variable(value.args[0])
        return (value, function) if read or named in _CALLS else None
    if isinstance(value, ast.Name) and is_spawned_index(value.id, function, project):
        return value, function
    if isinstance(value, ast.Attribute) and value.attr == "local_rank":
        return value, function
    return None


def _is_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in _VARIABLES


def is_spawned_index(name: str, function: Function, project: Project) -> bool:
    """Whether a name is the number that torch.multiprocessing.spawn hands to the function it runs."""
    if function.parameters[:1] != (name,) or name in function.assigned:
        return False
    return any(True for _ in spawns_of(function, project))


def spawns_of(function: Function, project: Project) -> list[tuple[ast.Call, Function]]:
    """Returns the calls of spawn that run a function."""
    return [
        (call, where)
        for name in _SPAWNS
        for call, where in project.calls_by_canonical.get(name, ())
        if any(function in project.meant(one, where) for one in _started(call))
    ]


def _started(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(one.value for one in call.keywords if one.arg == "fn")]


def names_nodes(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a count is a product with a number of machines."""
    return any(
        isinstance(node, (ast.Name, ast.Attribute)) and "node" in last_name(node).lower()
        for one, _ in origins(value, function, project)
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)
        for node in walk(one)
    )

"""Batch samplers of the project that deal out batches to the ranks one by one, until there are none left. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.executed.training import is_wrapped_backward, loader_of, parts, within
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Class, Instance, Made, sources
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import last_name

_RANK = re.compile(r"^(?:get_)?(?:global_|dp_|my_)?rank$|process_index$|^proc_?id$", re.IGNORECASE)
_RANKS = re.compile(r"world|replicas$|num_processes$|(?:num|n)_?(?:gpus|ranks)$", re.IGNORECASE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EVENED = (ast.FloorDiv, ast.Mod)  # what makes a number of batches a multiple of the ranks
_ROUNDS = frozenset(["ceil", "floor", "divmod", "cycle", "count", "repeat"])
_LEAVES = ("break", "return")
_JOINS = (".join", "Join")


def uneven_shares(execution: Execution) -> Iterator[tuple[ast.AST, Instance, Event, Event]]:
    """Yields (share of the batches, sampler, loop over the loader, backward of a wrapped model in it)."""
    told: set[int] = set()
    for begun in execution.named("iterate"):
        loader = loader_of(begun.owner)
        sampler = loader.argument(4, "batch_sampler") if loader is not None else None
        if not isinstance(sampler, Instance) or id(sampler) in told:
            continue
        share = _share(sampler)
        if share is None or _is_evened(sampler, share):
            continue
        inside = [one for one in execution.events if within(one, begun)]
        met = next((one for one in inside if is_wrapped_backward(one) and not one.is_handled), None)
        left = any(one.name in _LEAVES and one.loops and one.loops[-1].node is begun.node for one in inside)
        if met is not None and not left and not _is_joined(met):
            told.add(id(sampler))
            yield share, sampler, begun, met


def _lineage(kind: Class) -> Iterator[Class]:
    yield kind
    for one in kind.bases:
        if isinstance(one, Class):
            yield from _lineage(one)


def _methods(sampler: Instance) -> Iterator[ast.AST]:
    """Yields the methods of a sampler that have to do with what it gives, and not with how much that is said to be."""
    for kind in _lineage(sampler.kind):
        for one in kind.kind.body:
            if isinstance(one, _DEFINITIONS) and one.name != "__len__":
                yield one


def _share(sampler: Instance) -> ast.AST | None:
    """Returns what takes every so many-th batch, beginning with that of the rank."""
    return next((node for one in _methods(sampler) for node in walk(one) if _is_share(node)), None)


def _is_share(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=func, args=[first, _, step]) if last_name(func) == "range":
            return _is_rank(first) and _is_world(step)
        case ast.Call(func=func, args=[_, first, ast.Constant(value=None), step]) if last_name(func) == "islice":
            return _is_rank(first) and _is_world(step)
        case ast.Subscript(slice=ast.Slice(lower=first, upper=None, step=step)):
            return _is_rank(first) and _is_world(step)
        case ast.If(test=ast.Compare(left=ast.BinOp(op=ast.Mod(), right=step), ops=[ast.Eq()], comparators=[first])):
            return _is_rank(first) and _is_world(step)
        case _:
            return False


def _is_rank(value: ast.expr | None) -> bool:
    return value is not None and bool(_RANK.search(last_name(value)))


def _is_world(value: ast.expr | None) -> bool:
    return value is not None and bool(_RANKS.search(last_name(value)))


def _is_evened(sampler: Instance, share: ast.AST) -> bool:
    """Whether anything may have made the number of batches a multiple of the ranks, or the batches endless."""
    left_out = {id(one) for one in walk(share.test)} if isinstance(share, ast.If) else set()
    for one in parts(sampler):
        if isinstance(one, Instance):
            nodes = (node for method in _methods(one) for node in walk(method) if id(node) not in left_out)
            if any(_evens(node) for node in nodes):
                return True
            values = (each for held in one.fields.values() for each in sources(held))
            if any(isinstance(each, Made) and each.name in ("%", "//", "/") for each in values):
                return True
    return False


def _evens(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            return isinstance(op, _EVENED)
        case ast.Call(func=func):
            return last_name(func) in _ROUNDS
        case ast.While():
            return True
        case ast.Subscript(slice=ast.Slice(lower=None, upper=upper)):
            return upper is not None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return "pad" in name.lower()
        case _:
            return False


def _is_joined(met: Event) -> bool:
    return any(isinstance(one, Made) and one.name.endswith(_JOINS) for one in met.contexts)

"""Lines that keep an object of each iteration, read from the source: the usual form of a memory leak in training.

A loss appended to a list keeps its whole graph. Static, so at most LIKELY.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.source_file import SourceFile

KEEPING = {"append", "add", "extend", "insert", "appendleft", "put", "setdefault"}
SHRINKING = {"clear", "pop", "popleft", "popitem", "get", "remove"}
# Calls whose results hold no tensor and no graph.
SMALL = {
    "float", "int", "len", "str", "bool", "round", "repr", "format", "item", "tolist", "detach", "time",
    "perf_counter", "monotonic", "join", "Path", "min", "max", "abs", "range", "state_dict", "keys", "isoformat",
}  # fmt: skip


Repeated = ast.For | ast.While | ast.AsyncFor | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainedObject:
    """One statement that keeps `what` in `container`; `graph` where it is what backward() was called on."""

    line: int
    what: str
    container: str
    graph: bool


def kept_objects(source: SourceFile) -> tuple[RetainedObject, ...]:
    """Returns the statements in loops of a file that keep what each iteration made, graphs first."""
    if source.tree is None:
        return ()
    bounded = set(_bounded(source.tree))
    found: dict[int, RetainedObject] = {}
    for loop in walk(source.tree):
        if isinstance(loop, (ast.For, ast.While, ast.AsyncFor)):
            for kept in _kept_in(loop, bounded):
                found.setdefault(kept.line, kept)
    everywhere = _emptied(list(walk(source.tree)))
    for function in walk(source.tree):  # a method that is called in each iteration keeps things in its object
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name != "__init__":
            for kept in _kept_in(function, bounded):
                if kept.container.startswith("self.") and kept.container not in everywhere:
                    found.setdefault(kept.line, kept)
    return tuple(sorted(found.values(), key=lambda kept: (not kept.graph, kept.line)))


def _kept_in(loop: Repeated, bounded: set[str]) -> Iterator[RetainedObject]:
    nodes = [node for statement in loop.body for node in walk(statement)]
    apart = _blocks_that_leave(nodes)
    backward = {
        ast.unparse(node.func.value)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
    }
    for node in nodes:
        keeping = _keeping(node)
        if keeping is None:
            continue
        container, value = keeping
        # What is done in a branch that returns is not done where this line is reached.
        elsewhere = {id(one) for block in apart if not any(one is node for one in block) for one in block}
        passed = [one for one in nodes if id(one) not in elsewhere]
        made = {name: one.value for one in passed if isinstance(one, ast.Assign) for name in _names(one.targets)}
        emptied = _emptied(passed)
        if container in made or container in emptied or container in bounded:
            continue
        what = ast.unparse(value)
        graph = what in backward or any(name in backward for name in _plain_parts(value))
        if graph or (isinstance(node, ast.Call) and _is_large(value, made)):
            yield RetainedObject(line=getattr(node, "lineno", 0), what=what, container=container, graph=graph)


def _blocks_that_leave(nodes: list[ast.AST]) -> list[list[ast.AST]]:
    """Returns all nodes of each branch that ends in return, continue, break or raise."""
    branches = [branch for node in nodes if isinstance(node, ast.If) for branch in (node.body, node.orelse) if branch]
    leaving = (ast.Return, ast.Continue, ast.Break, ast.Raise)
    return [
        [node for statement in branch for node in walk(statement)]
        for branch in branches
        if isinstance(branch[-1], leaving)
    ]


def _emptied(nodes: list[ast.AST]) -> set[str]:
    """Returns the containers that something is taken out of."""
    return {
        ast.unparse(node.func.value)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SHRINKING
    }


def _keeping(node: ast.AST) -> tuple[str, ast.expr] | None:
    """Returns the container and what it is given, where the node is a call or statement that keeps something."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPING and node.args:
        return ast.unparse(node.func.value), node.args[-1]
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return ast.unparse(node.target), node.value
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        return ast.unparse(node.targets[0].value), node.value
    return None


def _plain_parts(value: ast.expr) -> Iterator[str]:
    """Yields the names a kept value refers to itself: in tuples, dicts and sums, not those handed to small calls."""
    match value:
        case ast.Name() | ast.Attribute():
            yield ast.unparse(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _plain_parts(part)
        case ast.Dict(values=parts):
            for part in parts:
                yield from _plain_parts(part)
        case ast.BinOp(left=left, right=right):
            yield from _plain_parts(left)
            yield from _plain_parts(right)
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if attr not in SMALL:
            yield from _plain_parts(inner)


def _is_large(value: ast.expr, made: dict[str, ast.expr]) -> bool:
    """Whether the value may be a tensor: a call that is not known to be small, or a name given to one in the loop."""
    if isinstance(value, ast.Name):
        given = made.get(value.id)
        return given is not None and not isinstance(given, ast.Name) and _is_large(given, {})
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else ast.unparse(value.func)
        return name not in SMALL
    if isinstance(value, ast.BinOp):
        return _is_large(value.left, made) or _is_large(value.right, made)
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(_is_large(part, made) for part in value.elts)
    return False


def _bounded(tree: ast.Module) -> Iterator[str]:
    """Yields what is made as a deque with a maxlen."""
    for node in walk(tree):
        match node:
            case ast.Assign(targets=targets, value=ast.Call(keywords=words)) if any(w.arg == "maxlen" for w in words):
                yield from (ast.unparse(target) for target in targets)


def _names(targets: list[ast.expr]) -> Iterator[str]:
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        yield from (ast.unparse(part) for part in parts)

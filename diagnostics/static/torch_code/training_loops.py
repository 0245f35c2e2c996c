"""The loops that train: those with a backward of their own, and what they call the loss. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project_file import ProjectFile

Loop = ast.For | ast.While
_KEEP_GRAPH = frozenset(["mean", "sum", "cpu", "float", "clone", "to", "view", "squeeze", "double", "cuda", "reshape"])
_SCALES = frozenset(["scale"])


@dataclass(frozen=True, slots=True, eq=False)
class BackwardCall:
    """One call that runs backward, and the expression it runs from."""

    call: ast.Call
    source: ast.expr

    @property
    def names(self) -> frozenset[str]:
        """The names and attributes the loss is made of."""
        return frozenset(named(self.source))

    @property
    def of_loss(self) -> bool:
        """Whether it starts from a loss, and not from a tensor whose gradient is given."""
        given = any(one.arg in ("gradient", "grad_tensors") for one in self.call.keywords)
        return not given and not any(
            not isinstance(one, ast.Constant) for one in self.call.args if one is not self.call.args[0]
        )

    @property
    def keeps_graph(self) -> bool:
        """Whether the graph outlives it."""
        return any(one.arg in ("retain_graph", "create_graph") for one in self.call.keywords)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingLoop:
    """The innermost loop around some backward calls."""

    loop: Loop
    backwards: tuple[BackwardCall, ...]

    @property
    def losses(self) -> frozenset[str]:
        """Every name a backward runs from directly."""
        found = (one.source for one in self.backwards if one.of_loss)
        return frozenset(ast.unparse(source) for source in found if isinstance(source, (ast.Name, ast.Attribute)))


def backwards(function: Function) -> Iterator[BackwardCall]:
    """Yields the calls of backward in a function."""
    for node in function.nodes_of(ast.Call):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "backward":
                of_loss = not node.args or isinstance(node.args[0], ast.Constant)
                source = node.func.value if of_loss else node.args[0]
                yield BackwardCall(node, _unscaled(source))
            elif node.func.attr == "manual_backward" and node.args:
                yield BackwardCall(node, _unscaled(node.args[0]))


def training_loops(function: Function, file: ProjectFile) -> Iterator[TrainingLoop]:
    """Yields the loops of a function that train."""
    found: dict[Loop, list[BackwardCall]] = {}
    for one in backwards(function):
        loop = innermost_loop(one.call, function, file)
        if loop is not None:
            found.setdefault(loop, []).append(one)
    yield from (TrainingLoop(loop, tuple(several)) for loop, several in found.items())


def innermost_loop(node: ast.AST, function: Function, file: ProjectFile) -> Loop | None:
    """Returns the loop directly around a node."""
    outer = file.parents.get(node)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, (ast.For, ast.While)):
            return outer
        outer = file.parents.get(outer)
    return None


def named(value: ast.AST) -> Iterator[str]:
    """Yields the names and the `self.x` in an expression."""
    for node in walk(value):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def carries(value: ast.expr, losses: frozenset[str]) -> str:
    """Returns the loss whose graph an expression carries on, "" where it holds none for certain."""
    if isinstance(value, (ast.Name, ast.Attribute)):
        text = ast.unparse(value)
        return text if text in losses else ""
    if isinstance(value, ast.BinOp):
        return carries(value.left, losses) or carries(value.right, losses)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEP_GRAPH:
        return carries(value.func.value, losses)
    return ""


def _unscaled(value: ast.expr) -> ast.expr:
    """`scaler.scale(loss)` is the loss, and so are `loss / n` and `loss.mean()`."""
    while True:
        if isinstance(value, ast.Call) and last_name(value.func) in _SCALES and value.args:
            value = value.args[0]
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEP_GRAPH:
            value = value.func.value
        elif isinstance(value, ast.BinOp) and isinstance(value.left, (ast.Name, ast.Attribute)):
            value = value.left
        else:
            return value

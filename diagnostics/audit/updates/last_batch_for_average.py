"""A function adds up a loss over its batches and hands back that of the last one.

What it does: flags `return loss` behind a loop that adds the loss up, in a sum, a list or a meter, where nothing reads
what was added up, or the mean that was made of it; also where the last one goes to a scheduler's step().

Why it matters: the last batch is one of many, and mostly a smaller one. A learning rate that follows it, a best
checkpoint and an early end that are chosen by it go by chance, and the number that was meant is thrown away.

Bad:

    for batch in loader:
        loss = criterion(model(batch))
        total += loss.item()
    total /= len(loader)
    return loss.item()

Good:

    return total

What it cannot see: sums that are printed and not returned, which may be meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A357"
NAME = "last-batch-for-average"
SEVERITY = Severity.WARNING
WORDS = ("append", "update", "add", "item", "loss")
CHECKLIST = "what an evaluation adds up is what it returns"
_MEASURED = re.compile(r"loss|err|acc|score|metric|psnr|ssim|iou|dice|bleu|wer|f1|nll|ppl|perplexity", re.IGNORECASE)
_LOOPS = (ast.For, ast.AsyncFor)
_SIZES = ("numel", "size", "dim", "nelement")
_FILLS = ("append", "update", "add")


@dataclass(frozen=True, slots=True)
class _Sum:
    """`name` holds what was added up of `measured` at `node`, in `loop`."""

    name: str
    measured: frozenset[str]
    node: ast.stmt
    loop: ast.AST


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the values of a last batch that stand for the mean of all."""
    if file.is_test:
        return
    for function in project.functions_in(file):
        for one in _sums(function):
            made = _made_of(one, function)
            if made is None or not _is_left(one, made, function):
                continue
            given = _given(one, function)
            if given is not None:
                used, name = given
                yield violation(
                    file,
                    used,
                    f"{name} is that of the last batch: what was added up of all of them in {one.name} is read by "
                    "nothing",
                    f"use the mean of {one.name}",
                    steps=(
                        step(file, one.node, "added up over the batches"),
                        *(step(file, each, "and the mean is made, which nothing reads") for each in made),
                    ),
                    confidence=Confidence.LIKELY,
                )
                break


def _sums(function: Function) -> Iterator[_Sum]:
    """Yields what loops add up of a number that each of their rounds sets."""
    for loop in function.nodes_of(_LOOPS):
        own = [one for one in walk(loop) if isinstance(one, ast.stmt)]
        set_here = {
            name.id
            for one in own
            if isinstance(one, ast.Assign)
            for target in one.targets
            for name in walk(target)
            if isinstance(name, ast.Name)
        }
        for one in own:
            name, value = _added(one)
            measured = frozenset(_numbers(value) & set_here) if value is not None else frozenset()
            if name and any(_MEASURED.search(each) for each in measured) and name not in measured:
                yield _Sum(name, measured, one, loop)


def _added(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            return name, value
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[value, *_])):
            return (name, value) if method in _FILLS else ("", None)
        case _:
            return "", None


def _made_of(one: _Sum, function: Function) -> tuple[ast.stmt, ...] | None:
    """Returns the statements behind the loop that make something of a sum; None where it is not the function's own."""
    if one.name in function.parameters or one.name not in function.assigned:
        return None
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) and one.name in node.names for node in function.own_nodes):
        return None
    end = getattr(one.loop, "end_lineno", 0) or 0
    return tuple(
        node
        for node in function.nodes_of((ast.Assign, ast.AugAssign))
        if isinstance(node, (ast.Assign, ast.AugAssign)) and node.lineno > end and one.name in _mentioned(node)
    )


def _mentioned(node: ast.Assign | ast.AugAssign) -> set[str]:
    return _names(node.value) | (_names(node.target) if isinstance(node, ast.AugAssign) else set())


def _is_left(one: _Sum, made: tuple[ast.stmt, ...], function: Function) -> bool:
    """Whether nothing reads a sum but what makes its mean, and nothing the mean."""
    if any(isinstance(each, ast.Assign) and not _is_name(each.targets) for each in made):
        return False
    means = {
        each.targets[0].id for each in made if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    inside = {id(node) for each in (one.node, *made) for node in walk(each)}
    return not any(
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in means | {one.name}
        and id(node) not in inside
        for node in walk(function.syntax)
    )


def _is_name(targets: list[ast.expr]) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name)


def _given(one: _Sum, function: Function) -> tuple[ast.AST, str] | None:
    """Returns where the last number is returned, or goes to a scheduler, behind the loop."""
    end = getattr(one.loop, "end_lineno", 0) or 0
    for node in function.nodes_of((ast.Return, ast.Call)):
        if getattr(node, "lineno", 0) <= end:
            continue
        values: list[ast.expr] = []
        if isinstance(node, ast.Return) and node.value is not None:
            values = list(node.value.elts) if isinstance(node.value, ast.Tuple) else [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            values = node.args[:1]
        for value in values:
            name = _plain(value)
            if name in one.measured and _MEASURED.search(name) and not _is_set_behind(name, end, function):
                return node, name
    return None


def _plain(value: ast.expr) -> str:
    """Returns the name of a number: `loss`, `loss.item()`, `float(loss)`."""
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and not value.args and value.func.attr not in _SIZES:
            value = value.func.value
        elif last_name(value.func) == "float" and len(value.args) == 1:
            value = value.args[0]
        else:
            return ""
    return value.id if isinstance(value, ast.Name) else ""


def _numbers(value: ast.expr) -> set[str]:
    """Returns the names of the numbers that a value is a multiple of: `loss.item() * len(x)`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)):
        return _numbers(value.left) | _numbers(value.right)
    return {_plain(value)} - {""}


def _is_set_behind(name: str, end: int, function: Function) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load) and node.lineno > end
        for node in function.nodes_of(ast.Name)
    )


def _names(value: ast.AST) -> set[str]:
    return {one.id for one in walk(value) if isinstance(one, ast.Name)}

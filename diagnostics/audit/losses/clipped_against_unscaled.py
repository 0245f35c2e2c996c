"""A clipped objective is compared with an unclipped one that is made of the same quantity before it was normalised.

What it does: flags the minimum or maximum of two products of which one is clipped, where a factor of the one is
normalised (by its mean or deviation, or by a function that says so) and the other has it as it was before.

Why it matters: the smaller of the two is to say whether the step was too large. Raw and normalised advantages differ in
scale and often in sign, so that the comparison is decided by that: the policy is pushed by the wrong one, and learns
worse or not at all. Nothing fails.

Bad:

    plain = ratio * advantage
    advantage = (advantage - advantage.mean()) / advantage.std()
    loss = -torch.min(plain, ratio.clamp(1 - eps, 1 + eps) * advantage)

Good:

    advantage = (advantage - advantage.mean()) / advantage.std()
    plain = ratio * advantage
    loss = -torch.min(plain, ratio.clamp(1 - eps, 1 + eps) * advantage)

What it cannot see: products that are made in other functions than the comparison.
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

CODE = "A343"
NAME = "clipped-against-unscaled"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("clamp", "clip")
CHECKLIST = "what is compared is made of the same quantities"
_COMPARES = frozenset(["min", "max", "minimum", "maximum", "amin", "amax"])
_STACKS = frozenset(["stack", "cat"])
_CLIPS = frozenset(["clamp", "clip", "clamp_min", "clamp_max", "clip_by_value"])
_STATISTICS = frozenset(["mean", "std", "var", "std_mean", "var_mean", "masked_mean", "masked_var", "nanmean"])
_NORMALISES = re.compile(r"normali[sz]e|whiten|standardi[sz]e|z_?score", re.IGNORECASE)
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two that are compared: what it is made of, and where."""

    value: ast.expr
    factors: frozenset[str]


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the products whose other side is made of another form of the same."""
    for function in () if file.is_test else project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            sides = _sides(call, function) if isinstance(call, ast.Call) else []
            if len(sides) != 2 or not any(_is_clipped(one.value, function) for one in sides):
                continue
            found = next(_differing(sides, function, file), None)
            if found is not None:
                raw, other, quantity, normalised = found
                yield violation(
                    file,
                    raw.value,
                    f"this has `{quantity}` as it was before it is normalised, and is compared with "
                    f"`{ast.unparse(other.value)[:60]}`, which has it normalised: the two differ in scale and sign",
                    "normalise first, and make both of what comes out",
                    steps=(step(file, normalised, f"`{quantity}` is normalised here"),
                           step(file, call, "the two are compared here")),
                    confidence=Confidence.LIKELY,
                )  # fmt: skip


def _sides(call: ast.Call, function: Function) -> list[_Side]:
    """Returns the two products that a call takes the smaller or the larger of, [] where it does something else."""
    if last_name(call.func) not in _COMPARES:
        return []
    given = list(call.args)
    held = call.func.value if isinstance(call.func, ast.Attribute) else None
    stacked = next((one for one in (held, *given[:1]) if _is_stack(one, function)), None)
    if stacked is not None:
        parts = getattr(_made(stacked, function), "args", [None])[0]
        given = list(parts.elts) if isinstance(parts, (ast.List, ast.Tuple)) else []
    elif held is not None and len(given) == 1 and not isinstance(given[0], ast.Constant):
        given = [held, *given]  # plain.minimum(clipped)
    sides = [_made(one, function) for one in given[:2]]
    factors = [frozenset(_factors(one)) for one in sides]
    return [_Side(one, each) for one, each in zip(sides, factors, strict=True)] if all(factors) else []


def _is_stack(value: ast.expr | None, function: Function) -> bool:
    made = _made(value, function) if value is not None else None
    return isinstance(made, ast.Call) and last_name(made.func) in _STACKS


def _made(value: ast.expr, function: Function, rounds: int = _DEPTH) -> ast.expr:
    """Returns what a name was last given before it is used, without a sign in front."""
    while isinstance(value, ast.UnaryOp):
        value = value.operand
    if isinstance(value, ast.Name) and rounds:
        before = [one for one in function.assigned.get(value.id, ()) if one.lineno < value.lineno]
        return _made(max(before, key=lambda one: one.lineno), function, rounds - 1) if before else value
    return value


def _factors(value: ast.expr) -> Iterator[str]:
    """Yields the named factors of a product; nothing of what is no product."""
    if isinstance(value, ast.UnaryOp):
        yield from _factors(value.operand)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for part in (value.left, value.right):
            side = part.operand if isinstance(part, ast.UnaryOp) else part
            if isinstance(side, (ast.Name, ast.Attribute, ast.Subscript)):
                yield ast.unparse(side)
            else:
                yield from _factors(side)


def _is_clipped(value: ast.AST, function: Function, rounds: int = _DEPTH) -> bool:
    for node in walk(value):
        if isinstance(node, ast.Call) and last_name(node.func) in _CLIPS:
            return True
        if isinstance(node, ast.Name) and rounds and isinstance(node.ctx, ast.Load):
            made = _made(node, function, 1)
            if made is not node and _is_clipped(made, function, rounds - 1):
                return True
    return False


def _differing(
    sides: list[_Side], function: Function, file: ProjectFile
) -> Iterator[tuple[_Side, _Side, str, ast.AST]]:
    """Yields (the side with the raw quantity, the other, the quantity, where it is normalised)."""
    for raw, other in (sides, sides[::-1]):
        for target, value, node in _changes(function):
            for quantity in raw.factors:
                if not _normalises(value, quantity, function):
                    continue
                again = target == quantity and quantity in other.factors and _is_between(raw, node, other, file)
                renamed = target != quantity and target in other.factors - raw.factors and quantity not in other.factors
                if again or renamed:
                    yield raw, other, quantity, node


def _changes(function: Function) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    for node in function.nodes_of((ast.Assign, ast.AugAssign)):
        if isinstance(node, ast.AugAssign):
            yield ast.unparse(node.target), node.value, node
        elif isinstance(node, ast.Assign):
            yield from ((ast.unparse(one), node.value, node) for one in node.targets)


def _normalises(value: ast.expr, quantity: str, function: Function) -> bool:
    """Whether a value is a quantity by its own mean or deviation, or what a function of that name gives for it."""
    if isinstance(value, ast.Call) and _NORMALISES.search(last_name(value.func)):
        return any(_mentions(one, quantity) for one in value.args)
    if not _mentions(value, quantity):
        return False
    names = [one for node in walk(value) if isinstance(node, ast.Name) for one in function.assigned.get(node.id, ())]
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in _STATISTICS and _mentions(node, quantity)
        for one in (value, *(one for one in names if one.lineno < value.lineno))
        for node in walk(one)
    )


def _mentions(value: ast.AST, quantity: str) -> bool:
    kinds = (ast.Name, ast.Attribute, ast.Subscript)
    return any(isinstance(node, kinds) and ast.unparse(node) == quantity for node in walk(value))


def _is_between(raw: _Side, change: ast.AST, other: _Side, file: ProjectFile) -> bool:
    """Whether a change comes behind the one side on every way to the other: in the block of the one, further down."""
    statement: ast.AST = raw.value
    while not isinstance(statement, ast.stmt) and statement in file.parents:
        statement = file.parents[statement]
    around = file.parents.get(statement)
    blocks = (getattr(around, name, None) for name in ("body", "orelse", "finalbody"))
    block = next((one for one in blocks if isinstance(one, list) and statement in one), [])
    later = block[block.index(statement) + 1 :] if block else []
    held = {id(node) for one in later for node in walk(one)}
    return id(change) in held and id(other.value) in held and getattr(change, "lineno", 0) < other.value.lineno

"""Parameters are collected into a group that the optimizer is never given.

What it does: flags a list, or a dict with a list in it, that a function fills with parameters of a model and then uses
for nothing, where another one that it fills in the same way is used.

Why it matters: nothing fails. The parameters of that group keep the values that they begin with, a new head its random
ones, and the rest is fitted around them.

Bad:

    decay, rest = [], []
    for name, param in model.named_parameters():
        (rest if param.ndim < 2 else decay).append(param)
    optimizer = AdamW([{"params": decay, "weight_decay": 0.1}])

Good:

    optimizer = AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}])

What it cannot see: groups that are attributes, and parameters that no loop comes to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A356"
NAME = "group-never-given"
SEVERITY = Severity.ERROR
WORDS = ("named_parameters", "parameters")
CHECKLIST = "every group of parameters is given to an optimizer"
_FILLS = frozenset(["append", "extend", "add", "update"])
_FROZEN = "requires_grad"
_LEFT_OUT = re.compile(r"froz|freeze|freezing|fix|skip|ignor|exclu|unused|no[nt]?_?train|untrain|static", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class _Group:
    """One binding of a name to a container, what is put into it, and where it is read."""

    made: ast.AST
    name: str
    filled: list[ast.AST] = field(default_factory=list)
    frozen: bool = False
    read: bool = False


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the groups that are filled and not used."""
    for function in () if file.is_test else project.functions_in(file):
        groups = [one for one in _groups(function, file) if one.filled]
        used = [one for one in groups if one.read]
        for one in groups if used else ():
            if not (one.read or one.frozen or _LEFT_OUT.search(one.name)):
                yield violation(
                    file,
                    one.made,
                    f"the parameters that '{one.name}' is filled with are handed on to nothing: no optimizer has them, "
                    "and they keep the values that they begin with",
                    f"give '{one.name}' to the optimizer as the other groups",
                    steps=(
                        step(file, one.filled[0], "filled here, and not read behind it"),
                        step(file, used[0].made, f"another group, '{used[0].name}', is used"),
                    ),
                    confidence=Confidence.LIKELY,
                )


def _groups(function: Function, file: ProjectFile) -> list[_Group]:
    """Returns the containers that a function fills with parameters, in the order of its text."""
    loops = [one for one in function.own_nodes if isinstance(one, (ast.For, ast.comprehension)) and _is_over(one.iter)]
    if not loops:
        return []
    parameters = {each.id for one in loops for each in walk(one.target) if isinstance(each, ast.Name)}
    names = {_counted(one) for one in loops}
    found: dict[str, list[_Group]] = {}
    nodes = [one for one in walk(function.syntax) if isinstance(one, (ast.Name, ast.arg))]
    for node in sorted(nodes, key=lambda one: (one.lineno, one.col_offset)):
        inner = _in_other_scope(node, function, file)
        adds = isinstance(node, ast.Name) and _filling(node, file) is not None
        if isinstance(node, ast.arg) or (inner and isinstance(node.ctx, ast.Store)):
            continue
        if isinstance(node.ctx, ast.Store) and not adds:
            value = _value_of(node, file)
            if value is None:
                for one in found.get(node.id, ())[-1:]:
                    one.read = True  # bound in a way that is not looked into
                found.setdefault(node.id, []).append(_Group(node, node.id, read=True))
            elif isinstance(value, (ast.List, ast.Dict, ast.ListComp)) and _is_container(value):
                group = _Group(node, node.id)
                if isinstance(value, ast.ListComp):
                    group.filled = [value] if _takes(value) else []
                found.setdefault(node.id, []).append(group)
            else:
                found.setdefault(node.id, []).append(_Group(node, node.id, read=True))
        elif node.id in found:
            filled = _filling(node, file)
            last = found[node.id][-1]
            if filled is None or inner:
                for one in found[node.id]:
                    one.read = one.read or one is last or _around_both(one.made, node, file)
            elif any(isinstance(each, ast.Name) and each.id in parameters - names for each in walk(filled)):
                last.filled.append(filled)
                last.frozen = last.frozen or _freezes(filled, file)
    for one in (each for each in _flat(found) if not each.read):
        loop = _loop_around(one.made, file)
        one.read = loop is not None and any(  # what is read above in a loop may have been filled in the round before
            isinstance(each, ast.Name) and each.id == one.name and isinstance(each.ctx, ast.Load)
            and _filling(each, file) is None for each in walk(loop)
        )  # fmt: skip
    return _flat(found)


def _flat(found: dict[str, list[_Group]]) -> list[_Group]:
    return [one for groups in found.values() for one in groups]


def _loop_around(node: ast.AST, file: ProjectFile) -> ast.AST | None:
    """Returns the outermost loop around a node in its function."""
    loop, outer = None, file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        loop = outer if isinstance(outer, (ast.For, ast.While)) else loop
        outer = file.parents.get(outer)
    return loop


def _is_over(value: ast.expr) -> bool:
    """Whether a loop goes over the parameters of a model."""
    return any(isinstance(one, ast.Call) and last_name(one.func) in WORDS for one in walk(value))


def _counted(loop: ast.For | ast.comprehension) -> str:
    """Returns the variable of a loop that is a parameter's name, or a number, "" where there is none."""
    target = loop.target
    return target.elts[0].id if isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name) else ""


def _takes(value: ast.ListComp) -> bool:
    """Whether a list is some of the parameters of a model."""
    first = value.generators[0]
    taken = [one.id for one in walk(first.target) if isinstance(one, ast.Name)][-1:]
    return bool(first.ifs) and _is_over(first.iter) and isinstance(value.elt, ast.Name) and [value.elt.id] == taken


def _is_container(value: ast.List | ast.Dict | ast.ListComp) -> bool:
    """Whether a value is empty yet, or has an empty list among what it holds."""
    if isinstance(value, ast.List):
        return not value.elts
    if isinstance(value, ast.Dict):
        return any(isinstance(one, ast.List) and not one.elts for one in value.values)
    return True


def _value_of(name: ast.Name, file: ProjectFile) -> ast.expr | None:
    """Returns what a name is bound to."""
    outer = file.parents.get(name)
    if isinstance(outer, ast.Tuple):
        assigned = file.parents.get(outer)
        if isinstance(assigned, ast.Assign) and isinstance(assigned.value, ast.Tuple):
            at = outer.elts.index(name)
            return assigned.value.elts[at] if at < len(assigned.value.elts) else None
        return None
    return outer.value if isinstance(outer, (ast.Assign, ast.AnnAssign)) else None


def _filling(name: ast.Name, file: ProjectFile) -> ast.AST | None:
    """Returns the statement that does nothing with a name but to put something into it, None where it does more."""
    node: ast.AST = name
    outer = file.parents.get(node)
    while isinstance(outer, ast.Subscript) and outer.value is node:
        node, outer = outer, file.parents.get(outer)
    if isinstance(outer, ast.AugAssign) and outer.target is node:
        return outer
    if isinstance(outer, ast.IfExp) and node is not outer.test:  # `(a if small else b).append(p)`
        node, outer = outer, file.parents.get(outer)
    if isinstance(outer, ast.Attribute) and outer.value is node and outer.attr in _FILLS:
        call = file.parents.get(outer)
        statement = file.parents.get(call) if isinstance(call, ast.Call) and call.func is outer else None
        return statement if isinstance(statement, ast.Expr) else None
    return None


def _in_other_scope(node: ast.AST, function: Function, file: ProjectFile) -> bool:
    """Whether a name stands in a function inside of a function: when that runs is not known."""
    outer = file.parents.get(node)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return True
        outer = file.parents.get(outer)
    return False


def _around_both(made: ast.AST, read: ast.AST, file: ProjectFile) -> bool:
    """Whether a reading may come behind a binding that is not the last one before it: in another arm, or a loop."""
    arms: set[ast.AST] = set()
    for node in (made, read):
        outer = file.parents.get(node)
        while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            if isinstance(outer, (ast.If, ast.Try, ast.For, ast.While)):
                arms.add(outer)
            outer = file.parents.get(outer)
    return bool(arms)


def _freezes(filled: ast.AST, file: ProjectFile) -> bool:
    """Whether what is collected is frozen beside it: it is not meant to be trained."""
    outer = file.parents.get(filled)
    parts = next((part for part in (getattr(outer, "body", []), getattr(outer, "orelse", [])) if filled in part), [])
    return any(_FROZEN in ast.unparse(one) for one in parts if not isinstance(one, (ast.If, ast.For)))

"""What a program keeps of one step of an environment: reward, next state, and whether the episode ended there. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project

REWARD = re.compile(r"reward|(?:^|_)rews?(?:_|$)|^r(?:_t)?$", re.IGNORECASE)
END = re.compile(
    r"(?:^|_)dones?(?:_|$)|terminals?(?:_|$)|terminated|termination|game_?over|episode_(?:over|ends?)|absorbing",
    re.IGNORECASE,
)
_SHORT_END = frozenset(["d", "d_t", "ds"])  # beside a reward `r`
# Environments of which no episode ends but by the limit of its steps.
_ENDLESS = re.compile(r"^(?:Pendulum|HalfCheetah|Reacher|Swimmer|Pusher)(?:Bullet|Continuous)?(?:Env)?-v\d{1,2}$")
_FEW = 400
Key = tuple[str, str]  # ("", name) of a name, (text of an object, attribute or key) of what an object holds


def key_of(node: ast.AST) -> Key | None:
    """Returns what stands for a name, `batch.done` or `batch["done"]`; None of anything else."""
    if isinstance(node, ast.Name):
        return "", node.id
    if isinstance(node, ast.Attribute):
        return ast.unparse(node.value), node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return ast.unparse(node.value), node.slice.value
    return None


def unpacked(function: Function) -> Iterator[tuple[list[str], ast.AST]]:
    """Yields (names, statement) of what a function takes apart: `s, a, r, s2, done = batch`, or a loop over such."""
    for node in function.nodes_of((ast.Assign, ast.For, ast.comprehension)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
        for target in targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                yield [one.id for one in walk(target) if isinstance(one, ast.Name)], node


def ends_beside(reward: ast.AST, function: Function, project: Project) -> list[Key]:
    """Returns what tells the end of the episode in the transition that a reward is of; none where it is not known."""
    key = key_of(reward)
    if key is None or not REWARD.search(key[1]):
        return []
    if key[0]:
        held = kept_together(project).get(key[1], ())
        return [(key[0], one) for one in held]
    found = [("", one) for names, _ in unpacked(function) if key[1] in names for one in _ends(names)]
    if not found and key[1] in function.parameters and key[1] not in function.assigned:
        found = [("", one) for one in _ends(function.parameters)]
    return found


def _ends(names: list[str] | tuple[str, ...]) -> list[str]:
    short = any(len(one) == 1 and REWARD.search(one) for one in names)
    return [one for one in names if END.search(one) or (short and one in _SHORT_END)]


@per_project
def kept_together(project: Project) -> dict[str, tuple[str, ...]]:
    """Returns the ends of episodes by the name of the reward that records, dicts and buffers keep beside them."""
    found: dict[str, tuple[str, ...]] = {}
    for names in _records(project):
        ends = tuple(one for one in names if END.search(one))
        for name in names:
            if ends and REWARD.search(name):
                found[name] = tuple(dict.fromkeys((*found.get(name, ()), *ends)))
    return found


def _records(project: Project) -> Iterator[list[str]]:
    for file in project.python:
        for node in walk(file.tree) if file.tree is not None and not file.is_test else ():
            if isinstance(node, ast.Call) and last_name(node.func) == "namedtuple" and len(node.args) > 1:
                yield _texts(node.args[1])
            elif isinstance(node, ast.Call) and last_name(node.func) == "dict":
                yield [one.arg for one in node.keywords if one.arg]
            elif isinstance(node, ast.Dict):
                yield [one.value for one in node.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            elif isinstance(node, ast.ClassDef):
                yield [*_fields(node)]


def _texts(value: ast.expr) -> list[str]:
    """Returns the names of a namedtuple's fields: a list of texts, or one text."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value.replace(",", " ").split()
    return [one.value for one in walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _fields(kind: ast.ClassDef) -> Iterator[str]:
    """Yields the fields of a data class, and what the methods of a buffer set on it."""
    for node in kind.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
    for inner in walk(kind):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and last_name(inner.value) == "self":
            yield inner.attr


@per_project
def never_ends(project: Project) -> bool:
    """Whether no episode of the program's environment ends but by a limit of its steps."""
    made = [
        node.value
        for function in project.functions
        for node in function.nodes_of(ast.Constant)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _ENDLESS.match(node.value)
    ]
    steps = [one for one in project.by_name.get("step", ()) if one.owner is not None][:_FEW]
    told = [value for one in steps for value in _told_ends(one)]
    return bool(made) or (bool(told) and all(_is_limit(value, one) for value, one in told))


def _told_ends(function: Function) -> Iterator[tuple[ast.expr, Function]]:
    """Yields what `step` of an environment gives back for the end of the episode, the third of what it gives."""
    for node in function.nodes_of(ast.Return):
        value = node.value if isinstance(node, ast.Return) else None
        if isinstance(value, ast.Tuple) and len(value.elts) in (3, 4, 5):
            yield value.elts[2], function


def _is_limit(value: ast.expr, function: Function, rounds: int = 3) -> bool:
    """Whether it is False, or compares a number that the environment counts."""
    if isinstance(value, ast.Constant):
        return value.value is False
    if isinstance(value, ast.Name) and rounds:
        made = function.assigned.get(value.id, [])
        return bool(made) and all(_is_limit(one, function, rounds - 1) for one in made)
    if not isinstance(value, ast.Compare):
        return False
    counted = {ast.unparse(node.target) for node in function.nodes_of(ast.AugAssign)
               if isinstance(node, ast.AugAssign) and ast.unparse(node.value) == "1"}  # fmt: skip
    return any(ast.unparse(one) in counted for one in (value.left, *value.comparators))

"""A list is filled with one object that each round of a loop changes.

What it does: flags a loop that sets items of a dict or a list made outside of it and appends that same object in each
round.

Why it matters: the list holds the object once for every round, and all entries read what the last round wrote: every
run of a sweep has the last seed, every sample of a prepared set the last label.

Bad:

    for seed in seeds:
        config["seed"] = seed
        runs.append(config)

Good:

    for seed in seeds:
        runs.append({**config, "seed": seed})

What it cannot see: objects that are changed in a function which they are given to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_loops import Loop, innermost_loop

CODE = "A180"
NAME = "one-object-many-times"
SEVERITY = Severity.ERROR
RUN_CLASS = "duplicate-data"
WORDS = ("append",)
CHECKLIST = "entries of a list that a loop fills are objects of their own"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the appended objects that are one."""
    for function in () if file.is_test else project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            changed = _changed(call, function, file)
            if changed is None or not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.args[0])
            yield violation(
                file,
                call,
                f"every round appends the same '{name}', which the next one changes: all entries show what the last "
                "round wrote",
                f"append a copy, copy.deepcopy({name}), and change that",
                steps=(step(file, changed, f"'{name}', made outside of the loop, is changed in each round"),),
                confidence=Confidence.LIKELY,
            )


def _changed(call: ast.AST, function: Function, file: ProjectFile) -> ast.stmt | None:
    """Returns where a loop changes what a call appends in each of its rounds."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"):
        return None
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Name) or not isinstance(call.func.value, ast.Name):
        return None
    name, held = call.args[0].id, call.func.value.id
    loop = innermost_loop(call, function, file)
    statement = file.parents.get(call)
    if loop is None or not isinstance(loop, ast.For) or statement not in loop.body or name == held:
        return None
    if {name, held} & set(_bound(loop)) or not _is_made_outside(name, loop, function):
        return None
    if any(isinstance(node, (ast.Break, ast.Return, ast.Yield)) for one in loop.body for node in walk(one)):
        return None  # it may be kept once, or be read before the next round
    moves = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)} | set(_bound(loop))
    for one in loop.body:
        if isinstance(one, ast.Assign) and any(_is_item_of(target, name, moves) for target in one.targets) and any(
            isinstance(node, ast.Name) and node.id in moves for node in walk(one.value)
        ):  # fmt: skip
            return None if _is_cleared(held, loop) else one
    return None


def _bound(loop: Loop) -> Iterator[str]:
    """Yields the names that a loop gives a new value in its rounds."""
    parts: list[ast.AST] = [*loop.body, *([loop.target] if isinstance(loop, ast.For) else [])]
    for one in parts:
        for node in walk(one):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                yield node.id


def _is_item_of(target: ast.expr, name: str, moves: set[str]) -> bool:
    """Whether a target is an item of a name under a key that no round changes: `config["seed"]`."""
    if not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name):
        return False
    return not any(isinstance(node, ast.Name) and node.id in moves for node in walk(target.slice))


def _is_made_outside(name: str, loop: Loop, function: Function) -> bool:
    return name in function.assigned or name in function.parameters


def _is_cleared(held: str, loop: Loop) -> bool:
    """Whether a loop takes out again what it has put in."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("pop", "clear")
        and ast.unparse(node.func.value) == held for one in loop.body for node in walk(one)
    )  # fmt: skip

"""What one environment's last state is worth is added to the rewards of all environments.

What it does: flags a value that is added to the whole array of rewards of several environments, under a test whether
any of them was cut by its time limit, where neither an index nor a mask says whose it is.

Why it matters: the value of the last state stands for a whole return. In ordinary steps of the other environments it
is a bonus that nobody earned, and the advantages are wrong from the first truncation on. Nothing fails.

Bad:

    if truncated.any():
        rewards += gamma * value(final_obs)

Good:

    if truncated.any():
        rewards[truncated] += gamma * value(final_obs[truncated])

What it cannot see: rewards that are kept in objects, and environments that are stepped elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A360"
NAME = "bonus-for-all-environments"
SEVERITY = Severity.ERROR
WORDS = ("step",)
SUBJECT = ("truncated", "truncateds", "truncations")
CHECKLIST = "bootstrapped values are added to the environments that were cut"
_COUNTS = frozenset(["any", "len", "sum", "count_nonzero", "size"])
_CASTS = frozenset(["astype", "float", "to", "numpy", "unsqueeze", "squeeze", "reshape", "view", "cpu", "cuda", "int",
                    "as_tensor", "tensor", "from_numpy", "asarray", "array"])  # fmt: skip
_CHOOSES = frozenset(["where", "masked_fill", "masked_scatter", "select", "scatter", "index_add"])
_DEPTH = 3


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the additions to the rewards of all."""
    for function in () if file.is_test else project.functions_in(file):
        for stepped, reward, terminated, truncated in _steps(function):
            ended, masks = _derived({truncated}, function), _derived({truncated, terminated}, function)
            for node, value in _added(reward, function):
                around = _asked(node, ended, file)
                if around is not None and not _is_masked(value, masks, function, _DEPTH):
                    yield violation(
                        file,
                        node,
                        f"what the cut environments' last states are worth is added to '{reward}' of all of them: the "
                        "others' steps get a bonus of a whole return",
                        f"{reward}[{truncated}] += ..., for those that were cut alone",
                        steps=(
                            step(file, stepped, f"steps several environments: '{reward}' has one of each"),
                            step(file, around, "asks whether any of them was cut"),
                        ),
                        confidence=Confidence.LIKELY,
                    )


def _steps(function: Function) -> Iterator[tuple[ast.AST, str, str, str]]:
    """Yields (statement, rewards, terminations, truncations) of `obs, rewards, ended, cut, info = env.step(action)`."""
    for node in function.nodes_of(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=[_, ast.Name(id=reward), ast.Name(id=terminated), ast.Name(id=truncated), _])],
                value=ast.Call(func=ast.Attribute(attr="step")),
            ):
                yield node, reward, terminated, truncated


def _derived(ends: set[str], function: Function) -> set[str]:
    """Returns these names, and those of what is computed from them alone."""
    found = set(ends)
    for _ in range(2):
        for name, values in function.assigned.items():
            for value in values:
                names = {one.id for one in walk(value) if isinstance(one, ast.Name)} - {"np", "numpy", "torch"}
                if names and names <= found:
                    found.add(name)
    return found


def _added(reward: str, function: Function) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Yields where something is added to all rewards, and what."""
    for node in function.nodes_of((ast.AugAssign, ast.Assign)):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if name == reward:
                yield node, value
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BinOp(left=ast.Name(id=other), op=ast.Add(), right=value),
            ) if name == other == reward:
                yield node, value


def _asked(node: ast.AST, ended: set[str], file: ProjectFile) -> ast.AST | None:
    """Returns the test around a statement whether any of several environments was cut, or the loop over them."""
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(outer, ast.If):
            counted = [one for one in walk(outer.test) if isinstance(one, ast.Call) and last_name(one.func) in _COUNTS]
            if any(isinstance(one, ast.Name) and one.id in ended for call in counted for one in walk(call)):
                return outer.test
        elif isinstance(outer, ast.For):
            over = [one.id for one in walk(outer.iter) if isinstance(one, ast.Name)]
            if not ended.isdisjoint(over):
                return outer.iter
        outer = file.parents.get(outer)
    return None


def _is_masked(value: ast.expr, ended: set[str], function: Function, depth: int) -> bool:
    """Whether what is added is nothing for the environments that were not cut, or may be."""
    values = False
    for node in walk(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            if any(_base(side) in ended for side in (node.left, node.right)):
                return True
        elif isinstance(node, ast.Call):
            values = values or last_name(node.func) not in _CASTS
            if last_name(node.func) in _CHOOSES:
                return True
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if _is_filled(node.id, function):
                return True
            for made in function.assigned.get(node.id, ()) if depth and node.id not in ended else ():
                values = values or any(isinstance(one, ast.Call) for one in walk(made))
                if _is_masked_name(made, ended, function, depth - 1):
                    return True
    return not values  # a constant for all is a shaping of rewards


def _is_masked_name(made: ast.expr, ended: set[str], function: Function, depth: int) -> bool:
    return any(isinstance(one, ast.Call) for one in walk(made)) and _is_masked(made, ended, function, depth)


def _base(value: ast.expr) -> str:
    """Returns the name of what is cast, reshaped or taken of."""
    for _ in range(4):
        if isinstance(value, ast.Call) and last_name(value.func) in _CASTS:
            if isinstance(value.func, ast.Attribute) and not value.args:
                value = value.func.value
            elif value.args and last_name(value.func) in ("as_tensor", "tensor", "from_numpy", "asarray", "array"):
                value = value.args[0]
            elif isinstance(value.func, ast.Attribute):
                value = value.func.value
        elif isinstance(value, ast.Subscript):
            value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _is_filled(name: str, function: Function) -> bool:
    """Whether parts of an array are set: `bonus[cut] = value`."""
    for node in function.nodes_of((ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(one, ast.Subscript) and last_name(one.value) == name for one in targets):
            return True
    return False

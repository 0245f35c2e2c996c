"""The old log-probability of a policy's ratio is computed anew by the same policy for each update: the ratio is 1.

What it does: flags `ratio = exp(logp - old_logp)` that is clipped, where the old one is given by the same call as the
new one, in the same round of the loop, under no_grad() or detached, with no step of an optimizer between them.

Why it matters: the ratio is 1 in every update, so that nothing is ever clipped. Several rounds over one batch are then
plain policy-gradient steps on data that another policy has made, without the bound that PPO is for.

Bad:

    for idx in minibatches:
        with torch.no_grad():
            old_logp = model.evaluate(obs[idx], actions[idx])
        logp = model.evaluate(obs[idx], actions[idx])
        ratio = (logp - old_logp).exp()

Good:

    old_logp = model.evaluate(obs, actions).detach()      # once, before the first update
    for idx in minibatches:
        ratio = (model.evaluate(obs[idx], actions[idx]) - old_logp[idx]).exp()

What it cannot see: a second model that shares its weights with the first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A385"
NAME = "ratio-to-itself"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("exp",)
CHECKLIST = "the ratio of a policy is to the one that acted"
_CLIPS = frozenset(["clamp", "clip", "clamp_"])
_GRADIENT = frozenset(["detach", "item"])
_MOVES = frozenset(["to", "cuda", "float", "long", "view", "reshape", "squeeze", "unsqueeze", "flatten", "detach"])
_OLD = re.compile(r"old|prev|behavior|behaviour|fixed|ref", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the old log-probabilities that the same policy gives in the same round."""
    if file.is_test or file.words.isdisjoint(_CLIPS) or "backward" not in file.words:
        return
    for function in project.functions_in(file):
        for difference in _ratios(function):
            new, old = (_made(one, difference, function) for one in (difference.left, difference.right))
            if new is None or old is None or new is old or not _OLD.search(last_name(difference.right)):
                continue
            if _call_text(new.value) != _call_text(old.value) or not _same_given(new, old, function):
                continue
            loop = innermost_loop(old, function, file)
            if loop is None or loop is not innermost_loop(difference, function, file) or _steps_between(
                old, new, function
            ):  # fmt: skip
                continue
            if not _is_kept(old, loop):
                continue
            yield violation(
                file,
                old,
                f"'{last_name(difference.right)}' comes from the same call as '{last_name(difference.left)}', of the "
                "same weights: the ratio of the policies is 1 in every update, and nothing is ever clipped",
                "compute it once, before the first update over the data, or keep what the policy gave when it acted",
                steps=(step(file, new, "the same call"), step(file, difference, "the ratio of both")),
                confidence=Confidence.LIKELY,
            )


def _ratios(function: Function) -> Iterator[ast.BinOp]:
    """Yields `a - b` of exp(a - b), where the function clips something."""
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    if not any(last_name(one.func) in _CLIPS for one in calls):
        return
    for call in calls:
        if last_name(call.func) != "exp" or not isinstance(call.func, ast.Attribute):
            continue
        inner = call.args[0] if call.args else call.func.value
        if isinstance(inner, ast.Name):
            made = function.assigned.get(inner.id, [])
            inner = made[0] if len(made) == 1 else inner
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            yield inner


def _made(value: ast.expr, difference: ast.BinOp, function: Function) -> ast.Assign | None:
    """Returns the one statement that gives a name its value."""
    value = _plain(value)
    if not isinstance(value, ast.Name):
        return None
    found = [
        (node, target)
        for node in function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if any(isinstance(one, ast.Name) and one.id == value.id for one in ast.walk(target))
    ]
    alone = len(found) == 1 and found[0][0].lineno < difference.lineno
    return found[0][0] if alone else None


def _plain(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _GRADIENT:
        value = value.func.value
    return value


def _call_text(value: ast.expr) -> str:
    """Returns a call of something with arguments as text; another text for all else, which is equal to none."""
    value = _plain(value)
    return ast.unparse(value) if isinstance(value, ast.Call) and value.args else f"? {id(value)}"


def _same_given(one: ast.Assign, other: ast.Assign, function: Function) -> bool:
    """Whether nothing that both calls are given is set between them."""
    names = {node.id for node in walk(one.value) if isinstance(node, ast.Name)}
    first, last = sorted((one.lineno, other.lineno))
    return not any(
        first < node.lineno < last and any(isinstance(each, ast.Name) and each.id in names for each in walk(target))
        for node in function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _steps_between(one: ast.Assign, other: ast.Assign, function: Function) -> bool:
    """Whether the weights may change between two statements: a step, or a state that is loaded."""
    first, last = sorted((one.lineno, other.lineno))
    return any(
        isinstance(node, ast.Call)
        and last_name(node.func) in ("step", "load_state_dict")
        and first < node.lineno < last
        for node in function.nodes_of(ast.Call)
    )


def _is_kept(made: ast.Assign, loop: ast.AST) -> bool:
    """Whether a loop updates on data that is there before it, or that a loader gives: not on new data in each round."""
    steps = any(isinstance(node, ast.Call) and last_name(node.func) in ("step", "backward") for node in walk(loop))
    names = {node.id for node in walk(made.value) if isinstance(node, ast.Name)}
    for node in walk(loop):
        sets = isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id in names for target in node.targets for one in walk(target)
        )
        if sets and any(isinstance(one, ast.Call) and last_name(one.func) not in _MOVES for one in walk(node.value)):  # type: ignore[attr-defined]
            return False
    return steps

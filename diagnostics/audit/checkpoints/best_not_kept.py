"""The best metric so far is not in the checkpoint that a run goes on from.

What it does: flags where a program that keeps its best checkpoint by a comparison with the best metric restores step
or epoch and optimizer from another one, and writes no best metric into it: nowhere, or not into each dict that is
saved. The line is the last of those that restore, where the best metric is missing.

Why it matters: a resumed run begins with the worst best that there is. Its first evaluation, however bad, counts as the
best one: it overwrites the file, or has the better checkpoint deleted.

Bad:

    state = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}

Good:

    state = {"epoch": epoch, "best": best, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    ...
    best = state["best"]

What it cannot see: a best metric that is read from the file of the best checkpoint or from a log, under another name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.checkpoints.resumed_programs import COUNTS, OPTIMIZER, count_restored
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A425"
NAME = "best-not-kept"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
WORDS = ("load_state_dict", "state_dict", "save", "write")
CHECKLIST = "the best metric is restored where a run goes on"
_BEST = re.compile(r"best|(?:^|_)(?:min|max|lowest|highest)_?(?:val|loss|acc|metric|score)", re.IGNORECASE)
_HAND_ON = frozenset(["get", "dict", "save_checkpoint", "update", "pop", "save", "save_state", "getattr", "setattr"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the comparisons that begin anew, and the states without what is asked of them."""
    if file.is_test:
        return
    yield from _asked_in_vain(file, project)
    around = project.fact(ImportClosures).around(file.shown)
    functions = [one for one in project.functions if one.file in around]
    dicts = [(node, one) for one in functions for node in one.nodes_of(ast.Dict) if isinstance(node, ast.Dict)]
    saved = [(node, one) for node, one in dicts if _is_training_state(node)]
    if not saved or any(_has_best(one) for one in functions):
        return
    restored = count_restored(functions)
    if restored is None or _told(project).get(restored[0], file) is not file:
        return
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.If):
            best = _compared(node, function, functions) if isinstance(node, ast.If) else ""
            if best:
                _told(project)[restored[0]] = file
                yield violation(
                    project.file_with(restored[1]),
                    restored[0],
                    f"'{best}' is in no checkpoint: where a run goes on, its first evaluation counts as the best one "
                    "and overwrites a better checkpoint",
                    f"save '{best}' with the rest, and restore it",
                    steps=(
                        step(project.file_with(saved[0][1]), saved[0][0], "saved without it, to go on from"),
                        step(file, node, "compared with it here"),
                    ),
                    confidence=Confidence.LIKELY,
                )
                return


@per_project
def _told(project: Project) -> dict[ast.AST, ProjectFile]:
    """Returns the lines that were shown, and for which file: several scripts may go on by the same one."""
    return {}


def _is_training_state(node: ast.Dict) -> bool:
    keys = [one.value for one in node.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    states = any("state_dict" in ast.unparse(one) for one in node.values)
    return states and any(map(OPTIMIZER.search, keys)) and any(map(COUNTS.search, keys))


def _has_best(function: Function) -> bool:
    """Whether a function stores or reads a best metric by its name, by a key or by getattr."""
    for node in function.nodes_of((ast.Dict, ast.Subscript, ast.Call)):
        if isinstance(node, ast.Dict):
            parts = [*node.keys, *node.values]
            if any(one is not None and _names_best(one) for one in parts):
                return True
        elif isinstance(node, ast.Subscript) and _names_best(node.slice):
            return True
        elif isinstance(node, ast.Call) and last_name(node.func) in _HAND_ON:
            named = [one.value for one in node.keywords if one.arg and _BEST.search(one.arg)]
            if named or any(_names_best(one) and not _is_file(one) for one in node.args):
                return True
    return False


def _names_best(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str) and bool(_BEST.search(value.value)) and not _is_file(value)
    return isinstance(value, (ast.Name, ast.Attribute)) and bool(_BEST.search(last_name(value)))


def _is_file(value: ast.expr) -> bool:
    text = ast.unparse(value)
    return bool(re.search(r"\.(?:pth?|ckpt|tar|bin|safetensors|t7)\b|path|file|dir|is_best", text))


def _compared(node: ast.If, function: Function, functions: list[Function]) -> str:
    """Returns the best metric that a test compares with before something is saved, "" for none."""
    test = node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Lt, ast.Gt, ast.LtE, ast.GtE))):
        return ""
    for side in (test.left, test.comparators[0]):
        if not (isinstance(side, (ast.Name, ast.Attribute)) and _BEST.search(last_name(side))):
            continue
        name = ast.unparse(side)
        kept = any(isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name for one in node.body)
        saves = any(isinstance(one, ast.Call) and re.search(r"save|checkpoint", last_name(one.func), re.IGNORECASE)
                    for part in node.body for one in walk(part))  # fmt: skip
        if kept and saves and _begins(side, function, functions):
            return name
    return ""


def _begins(best: ast.expr, function: Function, functions: list[Function]) -> bool:
    """Whether a best metric begins with a constant, and nothing but the comparison sets it to another one."""
    scopes = functions if isinstance(best, ast.Attribute) else [function]
    values = [value for one in scopes for value in _set_to(ast.unparse(best), one)]
    constants = sum(map(_is_constant, values))
    return constants > 0 and len(values) - constants == 1


def _set_to(name: str, function: Function) -> Iterator[ast.expr]:
    """Yields what a name is set to in a function, one of several at once included."""
    for node in function.nodes_of((ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
        value: ast.expr | None = node.value  # type: ignore[attr-defined]
        for target in targets if value is not None else ():
            if ast.unparse(target) == name and value is not None:
                yield value
            elif isinstance(target, ast.Tuple):
                for at, one in enumerate(target.elts):
                    if ast.unparse(one) == name and value is not None:
                        yield value.elts[at] if isinstance(value, ast.Tuple) and at < len(value.elts) else value


def _is_constant(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp):
        return _is_constant(value.operand)
    if isinstance(value, ast.Call) and last_name(value.func) == "float":
        return True
    return isinstance(value, ast.Constant) or ast.unparse(value) in ("math.inf", "np.inf", "numpy.inf", "torch.inf")


def _asked_in_vain(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the dicts without a best metric beside those with one, where `.get("best", ...)` asks each of them."""
    asked = {}
    for function in project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            if isinstance(call, ast.Call) and last_name(call.func) == "get" and len(call.args) == 2:
                key = call.args[0]
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and _BEST.search(key.value):
                    asked[key.value] = call
    states = [(node, _keys(node)) for function in project.functions_in(file) if asked
              for node in function.nodes_of(ast.Dict) if isinstance(node, ast.Dict)]  # fmt: skip
    for node, keys in states:
        for name, call in asked.items():
            beside = next((one for one, each in states if keys and name not in keys and each == keys | {name}), None)
            if beside is not None and any(map(COUNTS.search, keys)):
                yield violation(
                    file,
                    node,
                    f"this state lacks '{name}', which is asked for where a run goes on: the best metric begins at "
                    f"{ast.unparse(call.args[1])} again, and a worse checkpoint replaces the best one",
                    f"add '{name}' to it",
                    steps=(step(file, beside, "beside it, this one has it"), step(file, call, "it is asked for here")),
                    confidence=Confidence.LIKELY,
                )


def _keys(node: ast.Dict) -> frozenset[str]:
    texts = [one.value for one in node.keys if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return frozenset(texts) if len(texts) == len(node.keys) else frozenset()

"""A module's state is loaded into the module that it was taken from.

What it does: flags `net.load_state_dict(net.state_dict())`, `x.copy_(x)` and loops over
`zip(net.parameters(), net.parameters())` that change the one by the other.

Why it matters: such a line changes nothing. It stands where a target network, an average or a copy is to follow another
module: that one keeps its first values throughout, and the loss is computed against them.

Bad:

    self.target_mixer.load_state_dict(self.target_mixer.state_dict())

Good:

    self.target_mixer.load_state_dict(self.mixer.state_dict())

What it cannot see: two names of one module. Optimizers are left out, which move their state to the parameters' device
when they are given it anew, and classes whose own state_dict() may give something else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A327"
NAME = "state-loaded-into-itself"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("load_state_dict", "copy_", "zip")
CHECKLIST = "a copy takes its state from another module"
_NO_MODULE = re.compile(r"opt|sched|scaler|state|dict", re.IGNORECASE)
_SAME = frozenset(["deepcopy", "copy", "dict", "OrderedDict"])
_PARTS = frozenset(["parameters", "buffers", "named_parameters", "named_buffers"])
_CHANGES = frozenset(["copy_", "lerp_", "mul_", "add_", "set_"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the updates that give a module what it has."""
    if "torch" not in file.words or file.is_test:
        return
    for call, function in project.calls_in(file):
        itself = _itself(call, function, project)
        if itself:
            yield violation(
                file,
                call,
                f"{itself} is given its own state, which changes nothing: it keeps its first values",
                "take the state of the module that it is to follow",
                confidence=Confidence.LIKELY,
            )


def _itself(call: ast.Call, function: Function, project: Project) -> str:
    """Returns the text of what a call gives itself to, "" where it does not."""
    called = last_name(call.func)
    if called == "zip":
        return _zipped(call, function)
    if not isinstance(call.func, ast.Attribute) or called not in ("load_state_dict", "copy_"):
        return ""
    named = {one.arg for one in call.keywords}
    given = next(iter([*call.args, *(one.value for one in call.keywords if one.arg == "state_dict")]), None)
    owner = ast.unparse(call.func.value)
    if given is None or "assign" in named or any(isinstance(one, ast.Call) for one in ast.walk(call.func.value)):
        return ""
    if called == "copy_":
        return owner if ast.unparse(given) == owner else ""
    while isinstance(given, ast.Call) and last_name(given.func) in _SAME and len(given.args) == 1:
        given = given.args[0]
    if not isinstance(given, ast.Call) or last_name(given.func) != "state_dict" or given.args or given.keywords:
        return ""
    if not isinstance(given.func, ast.Attribute) or ast.unparse(given.func.value) != owner or owner == "self":
        return ""
    if _NO_MODULE.search(owner) or project.targets(call, function) or project.targets(given, function):
        return ""
    return owner


def _zipped(call: ast.Call, function: Function) -> str:
    """Returns what is zipped with itself in the head of a loop that changes items by one another."""
    texts = [ast.unparse(one) for one in call.args]
    first = call.args[0] if call.args else None
    if (
        len(texts) != 2
        or len(set(texts)) != 1
        or not isinstance(first, ast.Call)
        or last_name(first.func) not in _PARTS
    ):
        return ""
    for loop in function.nodes_of(ast.For):
        assert isinstance(loop, ast.For)  # noqa: S101 (asked for by kind)
        if loop.iter is call and any(
            isinstance(one, ast.Call) and last_name(one.func) in _CHANGES
            for part in loop.body
            for one in ast.walk(part)
        ):
            return texts[0]
    return ""

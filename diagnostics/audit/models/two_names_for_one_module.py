"""A module that is to follow another one is that module: a second name was given to it, and no copy made.

What it does: flags `self.target = self.net` where the state of the one is later loaded into the other, or their
parameters are averaged pair by pair, and both turn out to be one object when the program is followed.

Why it matters: such an update changes nothing, and the "target", "teacher" or "average" moves with each step: the loss
chases itself, the teacher is the student, and nothing fails.

Bad:

    self.target = self.net
    ...
    self.target.load_state_dict(self.net.state_dict())

Good:

    self.target = copy.deepcopy(self.net)

What it cannot see: two names that nothing is copied between, and modules that only one of several branches shares.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Instance, Made, Value
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A335"
NAME = "two-names-for-one-module"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("load_state_dict", "zip")
CHECKLIST = "a target or teacher is a copy of the network"
_PARTS = frozenset([".parameters", ".buffers"])
_CHANGES = (".copy_", ".lerp_", ".mul_", ".add_")
_TESTS = (ast.If, ast.IfExp, ast.Try, ast.While)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the statements that give a module a second name."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for event in execution.named(".load_state_dict", "zip"):
        names = _loaded(event) if event.name == ".load_state_dict" else _paired(event, execution)
        told = next(_aliases(*names, project), None) if names is not None else None
        if told is None or names is None:
            continue
        alias, function, second, first = told
        place = f"{home(event, project).shown}:{getattr(event.node, 'lineno', 0)}"
        yield violation(
            project.file_with(function),
            alias,
            f"{second} is another name of {first}, and no copy: what copies the one to the other at {place} changes "
            "nothing",
            f"make a copy: copy.deepcopy({first})",
            steps=(shown(event, project, "here the module is given its own state"),),
            confidence=Confidence.LIKELY,
        )


def _loaded(event: Event) -> tuple[str, str] | None:
    """Returns the last names by which a state's module and the one it is loaded into are called, if they are one."""
    given = event.argument(0, "state_dict")
    if not isinstance(given, Made) or given.name != ".state_dict" or not _are_one(given.owner, event.owner):
        return None
    call = event.node
    into = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    taken = given.node.func if isinstance(given.node, ast.Call) else None
    return _names(into, taken.value if isinstance(taken, ast.Attribute) else None)


def _paired(event: Event, execution: Execution) -> tuple[str, str] | None:
    """Returns what two modules are called whose parameters a loop changes pair by pair, if they are one."""
    made = [one for one in event.args if isinstance(one, Made) and one.name in _PARTS]
    if len(made) != 2 or len(event.args) != 2 or not _are_one(made[0].owner, made[1].owner):
        return None
    inside = (one for one in execution.named(*_CHANGES) if any(loop.over is event.value for loop in one.loops))
    if event.value is None or next(inside, None) is None:
        return None
    calls = [one.node.func for one in made if isinstance(one.node, ast.Call)]
    owners = [one.value for one in calls if isinstance(one, ast.Attribute)]
    return _names(*owners) if len(owners) == 2 else None


def _are_one(first: Value | None, second: Value | None) -> bool:
    return first is second and isinstance(first, (Made, Instance))


def _names(first: ast.expr | None, second: ast.expr | None) -> tuple[str, str] | None:
    plain = (ast.Name, ast.Attribute)
    if not isinstance(first, plain) or not isinstance(second, plain):
        return None
    names = last_name(first), last_name(second)
    return names if names[0] != names[1] and "module" not in names else None


def _aliases(first: str, second: str, project: Project) -> Iterator[tuple[ast.Assign, Function, str, str]]:
    """Yields the statements that give the one name to what has the other, under no test, and both as they stand."""
    for file in project.audited:
        if file.is_test or not {first, second} <= file.words:
            continue
        for function in project.functions_in(file):
            for node in function.nodes_of(ast.Assign):
                alias = _alias(node, first, second) if isinstance(node, ast.Assign) else None
                if alias is not None and isinstance(node, ast.Assign) and not _is_chosen(node, file):
                    yield node, function, ast.unparse(alias[0]), ast.unparse(alias[1])


def _alias(node: ast.Assign, first: str, second: str) -> tuple[ast.expr, ast.expr] | None:
    """Returns the two names of one object that a statement makes: also `self.net, self.target = net, net`."""
    plain = (ast.Name, ast.Attribute)
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        given = {
            last_name(to): (to, value) for to, value in pairs if isinstance(to, plain) and isinstance(value, plain)
        }
        for name, other in ((first, second), (second, first)):
            if name in given and last_name(given[name][1]) == other:
                return given[name]
        if first in given and second in given and ast.dump(given[first][1]) == ast.dump(given[second][1]):
            return given[first][0], given[second][0]
    return None


def _is_chosen(node: ast.AST, file: ProjectFile) -> bool:
    """Whether a test decides if a statement runs."""
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(outer, _TESTS):
            return True
        outer = file.parents.get(outer)
    return False

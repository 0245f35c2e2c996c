"""The ends of episodes are written for one step and read for the next one, or the other way round.

What it does: looks at the loop that fills a rollout and at the one that works out advantages backwards. Flags
`dones[step] = done` behind `env.step()`, where the action of this step ended the episode, with advantages that ask
`dones[t + 1]`; and one before it, where the observation of this step began an episode, with advantages that ask
`dones[t]`. Of two that write one slot in a round the last one counts.

Why it matters: the value of the state behind a step counts unless the episode ended there. With the flags of another
step the end of an episode takes its return from the fresh start of the next one, and the step before it, or behind it,
is cut off in its place. Nothing fails; the policy learns what no episode pays.

Bad:

    obs, reward, done = env.step(action)
    dones[step] = done
    ...
    alive = 1 - dones[t + 1]                      # with values[t + 1]

Good:

    alive = 1 - dones[t]                          # or dones[step] = done before env.step(action)

What it cannot see: flags that a buffer's method takes, and steps that are counted otherwise than by the loop.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name, paired
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A355"
NAME = "dones-shifted"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("step",)
CHECKLIST = "an end of an episode is read for the step that it was written for"
_NO_WORLD = re.compile(r"optim|sched|scaler|writer|logger|profiler|progress|bar", re.IGNORECASE)
_LOOPS = (ast.For, ast.While)
_NEGATES = ("logical_not", "bitwise_not", "invert")
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class _Read:
    """Advantages ask the flags of this name for the step `later` behind their own (0 or 1)."""

    name: str
    later: int
    node: ast.expr
    where: Function


@dataclass(frozen=True, slots=True)
class _Written:
    """Flags are written in a loop that acts; `behind`: after the environment's step."""

    name: str
    behind: bool
    node: ast.stmt
    acts: ast.stmt
    slot: str


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the flags that are read for another step than they were written for."""
    if file.is_test or not _reads(project):
        return
    for function in project.functions_in(file):
        for loop in function.nodes_of(_LOOPS):
            written = list(_writes(loop))
            for name in dict.fromkeys(one.name for one in written):
                same = [one for one in written if one.name == name]
                last = same[-1]
                fits = [one for one in _reads(project) if one.name == name and _fits(one, function, project)]
                if len({one.later for one in fits}) != 1 or last.behind is not bool(fits[0].later):
                    continue
                if all(one.slot == last.slot for one in same):
                    yield _hit(last, same, fits[0], file, project)


def _hit(last: _Written, same: list[_Written], read: _Read, file: ProjectFile, project: Project) -> Violation:
    asked = ast.unparse(read.node)
    if last.behind:
        title = f"{last.slot} says here whether this step ended its episode, and {asked} is asked where the value "
        title += "behind a step is taken: the end of an episode takes it from the start of the next one"
        fix = f"write {last.slot} before the environment's step, once; or ask for the step itself: [t]"
    else:
        title = f"{last.slot} says here whether an episode began with this step, and {asked} is asked where the value "
        title += "behind it is taken: the first step of an episode is cut off, and not the last one"
        fix = f"write {last.slot} behind the environment's step, or ask for the step behind: [t + 1]"
    lost = [step(file, one.node, "is overwritten in the same round") for one in same[:-1]]
    return violation(
        file,
        last.node,
        title,
        fix,
        steps=(
            *lost,
            step(file, last.acts, "the environment's step"),
            step(project.file_with(read.where), read.node, "what the advantages ask"),
        ),
        confidence=Confidence.LIKELY,
    )


@per_project
def _reads(project: Project) -> tuple[_Read, ...]:
    """Returns what loops that go backwards over a rollout ask."""
    return tuple(
        found
        for file in project.python
        if not file.is_test and "reversed" in file.words | ({"reversed"} if "-1, -1" in file.text else set())
        for function in project.functions_in(file)
        for loop in function.nodes_of(ast.For)
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and _is_backwards(loop.iter)
        for found in _asked(loop, loop.target.id, function)
    )


def _is_backwards(over: ast.expr) -> bool:
    match over:
        case ast.Call(func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range"), args=[_])]):
            return True
        case ast.Call(func=ast.Name(id="range"), args=[_, ast.UnaryOp(op=ast.USub()), ast.UnaryOp(op=ast.USub())]):
            return True
        case _:
            return False


def _asked(loop: ast.For, counter: str, function: Function) -> Iterator[_Read]:
    """Yields the flags that are turned round in a loop, by one and the same step, where values of the next one are."""
    items: dict[str, set[int]] = {}
    for node in walk(loop):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            later = _later(node.slice, counter)
            if later is not None:
                items.setdefault(last_name(node.value), set()).add(later)
    turned = [node for node in map(_turned, walk(loop)) if node is not None]
    for node in turned:
        name = last_name(node.value)
        later = _later(node.slice, counter)
        others = {each for other, found in items.items() if other != name for each in found}
        if later is not None and items.get(name) == {later} and others >= {0, 1}:
            yield _Read(name, later, node, function)
            return


def _later(index: ast.expr, counter: str) -> int | None:
    """Returns how many steps behind the counter an index is, 0 or 1."""
    for one in index.elts if isinstance(index, ast.Tuple) else (index,):
        match one:
            case ast.Name(id=name) if name == counter:
                return 0
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=1)) if name == counter:
                return 1
    return None


def _turned(node: ast.AST) -> ast.Subscript | None:
    """Returns the item that is turned from "ended" to "goes on": `1 - dones[t]`, `~dones[t]`."""
    match node:
        case ast.BinOp(left=ast.Constant(value=value), op=ast.Sub(), right=right) if value == 1:
            return _item(right)
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=operand):
            return _item(operand)
        case ast.Call(func=func, args=[given]) if last_name(func) in _NEGATES:
            return _item(given)
        case ast.Call(func=ast.Attribute(value=given, attr=name), args=[]) if name in _NEGATES:
            return _item(given)
        case _:
            return None


def _item(value: ast.expr) -> ast.Subscript | None:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    while isinstance(value, ast.Call) and len(value.args) == 1:
        value = value.args[0]
    return value if isinstance(value, ast.Subscript) else None


def _writes(loop: ast.AST) -> Iterator[_Written]:
    """Yields what a loop writes of what the environment's step gives, each before or behind that step, in order."""
    statements = sorted((one for one in walk(loop) if isinstance(one, ast.stmt)), key=lambda one: one.lineno)
    acts = next((one for one in statements if isinstance(one, ast.Assign) and _is_step(one.value)), None)
    if acts is None or any(acts in walk(one) for one in walk(loop) if isinstance(one, _LOOPS) and one is not loop):
        return  # an inner loop acts
    given = {name for target in acts.targets for name in _names(target)}
    if isinstance(acts, ast.Assign) and isinstance(loop, ast.For):
        given -= _names(loop.target)
    made = dict.fromkeys(given, acts.lineno)
    for _ in range(_ROUNDS):
        for one in statements:
            for target, value in _assigned(one) if one.lineno > acts.lineno else ():
                if isinstance(target, ast.Name) and target.id not in made and _names(value) & made.keys():
                    made[target.id] = one.lineno
    for one in statements:
        for name, slot, value in _stored(one, loop):
            lines = [made[each] for each in _names(value) if each in made]
            if lines:
                yield _Written(name, max(lines) < one.lineno, one, acts, slot)


def _is_step(value: ast.expr) -> bool:
    """Whether a call acts in an environment: its result has parts, and no optimizer makes the step."""
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr != "step":
        return False
    return bool(value.args) and not _NO_WORLD.search(ast.unparse(value.func.value))


def _assigned(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        yield from paired(target, statement.value)  # type: ignore[attr-defined] # an Assign


def _stored(statement: ast.stmt, loop: ast.AST) -> Iterator[tuple[str, str, ast.expr]]:
    """Yields (name, slot, value) of `dones[step] = value` and `dones.append(value)`."""
    counter = loop.target.id if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) else ""
    for target, value in _assigned(statement):
        if isinstance(target, ast.Subscript) and counter and _later(target.slice, counter) == 0:
            yield last_name(target.value), ast.unparse(target), value
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr="append"), args=[given])):
            yield last_name(held), ast.unparse(held), given


def _names(value: ast.AST) -> set[str]:
    return {one.id for one in walk(value) if isinstance(one, ast.Name)}


def _fits(read: _Read, function: Function, project: Project) -> bool:
    """Whether flags of one name are the same ones where they are read and where a function writes them."""
    if read.where is function or (read.where.owner is not None and read.where.owner is function.owner):
        return True
    if isinstance(read.node, ast.Subscript) and isinstance(read.node.value, ast.Attribute):
        return _is_only(read.name, project)
    if read.name not in read.where.parameters:
        return False
    given = list(project.arguments(read.name, read.where))
    return bool(given) and all(last_name(value) == read.name and caller is function for value, caller in given)


def _is_only(name: str, project: Project) -> bool:
    """Whether one loop of the project writes flags of a name, and one reads them."""
    reads = sum(one.name == name for one in _reads(project))
    return reads == 1 and _loops_that_write(project).get(name) == 1


@per_project
def _loops_that_write(project: Project) -> dict[str, int]:
    """Returns how many loops write flags, by their name."""
    found: dict[str, int] = {}
    for file in project.python:
        for function in project.functions_in(file) if not file.is_test and "step" in file.words else ():
            for loop in function.nodes_of(_LOOPS):
                for name in {one.name for one in _writes(loop)}:
                    found[name] = found.get(name, 0) + 1
    return found

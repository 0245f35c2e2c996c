"""Backward runs twice through what a trained network has made, and the first time frees its graph. Pure.

What is made is followed in the order of the statements of a loop's body, into the project's functions that are given
it. A name that is bound anew, or to what is detached, is followed no further.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.autograd.grad_mode import is_off
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import statements_of
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_loops import BackwardCall, backwards, innermost_loop

_DEPTH = 2
_CUTS = frozenset(["detach", "item", "numpy", "tolist", "size", "argmax"])
_LIKE = frozenset(["zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "empty_like", "len", "isinstance",
                   "grad", "print"])  # fmt: skip
_NO_GRAPH = frozenset(["data", "shape", "dtype", "device", "requires_grad", "grad", "ndim"])
_DETACHES = re.compile(r"detach|no_grad|inference_mode|\.data\b|set_grad_enabled|stop_grad|autograd")
_Followed = dict[str, ast.AST | None]  # names that have the graph, and where each has first taken it in
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True, eq=False)
class SecondBackward:
    """What was made, where backward runs through it for the first time, and where for the second.

    `used` is where what the first one runs back from takes it in: there it would be detached.
    """

    made: ast.Assign
    name: str
    network: str
    used: ast.AST
    first: ast.Call
    second: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class _Pass:
    """A call in which backward runs through what is followed, and where that was taken in."""

    call: ast.Call
    frees: bool
    used: ast.AST


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A function, its file and the project."""

    function: Function
    file: ProjectFile
    project: Project


def second_backwards(function: Function, file: ProjectFile, project: Project) -> Iterator[SecondBackward]:
    """Yields what backward runs through twice in one round of a function."""
    trained = _trained(function, project, _DEPTH)
    if not trained:
        return
    here = _Place(function, file, project)
    for made in function.nodes_of(ast.Assign):
        if (
            not isinstance(made, ast.Assign)
            or not isinstance(made.targets[0], ast.Name)
            or is_off(made, function, file)
        ):
            continue
        network = _network(made.value, trained)
        if not network or _is_switched(network, function):
            continue
        loop = innermost_loop(made, function, file)
        body = list(_flat(loop.body if loop is not None else statements_of(function.syntax)))
        name = made.targets[0].id
        after = body[body.index(made) + 1 :] if made in body else []
        passes = [one for one in _passes(after, {name: None}, here, _DEPTH) if not _apart(one.call, made, file)]
        for at, first in enumerate(passes):
            second = next((one for one in passes[at + 1 :] if _follows(first.call, one.call, file)), None)
            if first.frees and second is not None:
                yield SecondBackward(made, name, network, first.used, first.call, second.call)
                break


def _trained(function: Function, project: Project, depth: int) -> frozenset[str]:
    """Returns the expressions of the networks whose weights an optimizer has, in the words of a function."""
    found: set[str] = set()
    kind = project.class_of(function)
    for scope in project.functions_seeing(kind) if kind is not None else [function]:
        for call in scope.nodes_of(ast.Call):
            if isinstance(call, ast.Call) and project.name(call.func, scope).startswith("torch.optim."):
                given = call.args[0] if call.args else None
                of = given.func if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) else None
                if of is not None and of.attr == "parameters":
                    text = ast.unparse(of.value).removesuffix(".module")
                    if text.startswith("self.") or scope is function:
                        found.add(text)
    if depth and function.name != "<module>":
        for call, caller in project.callers(function)[:3]:
            there = _trained(caller, project, depth - 1) if caller is not function else frozenset()
            names = dict(zip(function.parameters[function.implied :], call.args, strict=False))
            names.update({one.arg: one.value for one in call.keywords if one.arg})
            found |= {name for name, value in names.items() if ast.unparse(value) in there}
    return frozenset(found)


def _network(value: ast.expr, trained: frozenset[str]) -> str:
    """Returns the trained network whose graph a value has, "" where it has none."""
    for node in _with_graph(value):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).removesuffix(".forward").removesuffix(".module")
            if called in trained:
                return called
    return ""


def _is_switched(network: str, function: Function) -> bool:
    """Whether a function switches the gradients of a network off or on."""
    for node in function.nodes_of((ast.Call, ast.For)):
        text = ast.unparse(node) if isinstance(node, ast.For) or "grad" in last_name(node.func) else ""  # type: ignore[attr-defined]
        if isinstance(node, ast.For) and not ast.unparse(node.iter).startswith(network + "."):
            continue
        if "requires_grad" in text and network in text:
            return True
    return False


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list) and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                yield from _flat(inner)


def _passes(statements: Sequence[ast.stmt], followed: _Followed, here: _Place, depth: int) -> Iterator[_Pass]:
    """Yields the calls that run backward through what is followed, in their order."""
    sources = {id(one.call): one for one in backwards(here.function)}
    for statement in statements:
        for call in _calls(statement):
            if id(call) in sources:
                if sources[id(call)].of_loss and (by := _carried(sources[id(call)].source, followed, here)):
                    yield _Pass(call, _frees(sources[id(call)]), followed[by[0]] or call)
            elif depth:
                yield from _inside(call, followed, here, depth)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            off = is_off(statement, here.function, here.file)
            by = () if off else _carried(statement.value, followed, here)
            used = followed[by[0]] or _used(statement.value) if by else None
            for one in (ast.unparse(each) for target in targets for each in getattr(target, "elts", [target])):
                if by:
                    followed[one] = used
                else:
                    followed.pop(one, None)
        elif isinstance(statement, ast.AugAssign) and (by := _carried(statement.value, followed, here)):
            followed.setdefault(ast.unparse(statement.target), followed[by[0]] or _used(statement.value))


def _used(value: ast.expr) -> ast.expr | None:
    """Returns where a value takes in what is followed: another name for it is not yet a use."""
    return None if isinstance(value, (ast.Name, ast.Attribute)) else value


def _inside(call: ast.Call, followed: _Followed, here: _Place, depth: int) -> Iterator[_Pass]:
    """Yields a call of the project's function that runs backward through what it is given."""
    given = [*call.args, *(one.value for one in call.keywords)]
    if not any(isinstance(one, ast.Name) and one.id in followed for one in given):
        return
    targets = here.project.targets(call, here.function)
    if len(targets) != 1 or here.project.is_guess(call, here.function):
        return
    target = targets[0]
    names = dict(zip(target.parameters[target.implied :], call.args, strict=False))
    names.update({one.arg: one.value for one in call.keywords if one.arg})
    inner: _Followed = {
        name: None for name, value in names.items() if isinstance(value, ast.Name) and value.id in followed
    }
    there = _Place(target, here.project.file_with(target), here.project)
    found = list(_passes(list(_flat(statements_of(target.syntax))), inner, there, depth - 1))
    if found and not any(True for _ in _arms(found[0].call, there.file)):  # else its arguments may decide
        by = next(one.id for one in given if isinstance(one, ast.Name) and one.id in followed)
        yield _Pass(call, found[0].frees, followed[by] or call)


def _frees(backward: BackwardCall) -> bool:
    return not backward.keeps_graph and not any(one.arg == "inputs" for one in backward.call.keywords)


def _carried(value: ast.expr, followed: _Followed, here: _Place) -> tuple[str, ...]:
    """Returns the names by which an expression has the graph of what is followed."""
    for node in _with_graph(value):
        if isinstance(node, ast.Call) and _DETACHES.search(_body_of(node, here)):
            return ()
    names = (ast.unparse(node) for node in _with_graph(value) if isinstance(node, (ast.Name, ast.Attribute)))
    return tuple(one for one in names if one in followed)


def _body_of(call: ast.Call, here: _Place) -> str:
    """Returns the text of the project's functions that a call runs."""
    return "\n".join(ast.unparse(one.syntax) for one in here.project.targets(call, here.function)[:4])


def _with_graph(value: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of an expression whose graph is that of the whole."""
    if isinstance(value, ast.Call) and last_name(value.func) in (_CUTS | _LIKE):
        return
    if isinstance(value, (ast.Compare, ast.Lambda)) or (isinstance(value, ast.Attribute) and value.attr in _NO_GRAPH):
        return
    yield value
    for child in ast.iter_child_nodes(value):
        yield from _with_graph(child)


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yields the calls of a plain statement, inner ones first."""
    if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)):
        yield from reversed([node for node in walk(statement) if isinstance(node, ast.Call)])


def _arms(node: ast.AST, file: ProjectFile) -> Iterator[tuple[ast.AST, int]]:
    """Yields the branches around a node, and in which arm of each it stands."""
    outer = file.parents.get(node)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(outer, (ast.If, ast.Try)):
            yield outer, 0 if any(node is one for one in outer.body) else 1
        node, outer = outer, file.parents.get(outer)


def _apart(one: ast.AST, other: ast.AST, file: ProjectFile) -> bool:
    """Whether two nodes stand in different arms of a branch."""
    arms = dict(_arms(one, file))
    return any(arms.get(branch, arm) != arm for branch, arm in _arms(other, file))


def _follows(first: ast.AST, second: ast.AST, file: ProjectFile) -> bool:
    """Whether the second node runs in a round in which the first one did, as far as branches tell.

    Where each stands under a test of its own, the tests may exclude each other.
    """
    one, other = dict(_arms(first, file)), dict(_arms(second, file))
    if _apart(first, second, file) or not (one.keys() <= other.keys() or other.keys() <= one.keys()):
        return False
    return not any(
        isinstance(branch, ast.If) and isinstance((branch.orelse if arm else branch.body)[-1], _ENDS)
        for branch, arm in one.items() if branch not in other
    )  # fmt: skip

"""Steps of an optimizer between a forward and the backward that needs its weights. Pure.

Read along straight stretches of statements only, `with` blocks included.

Which networks an optimizer changes, in the words of the function that steps it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from diagnostics.static.autograd.grad_mode import is_off
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.module_classes import own_attribute
from diagnostics.static.torch_code.training_loops import BackwardCall, backwards


@dataclass(frozen=True, slots=True, eq=False)
class StaleBackward:
    """A step that changes the weights a later backward needs."""

    step: ast.Call
    backward: ast.Call
    forward: ast.AST
    network: str
    loss: str
    certain: bool  # the gradient goes through the network into another one


@dataclass(slots=True)
class _Graph:
    """What a name's graph holds: the networks by where they ran, and the step that changed one of them."""

    networks: dict[str, ast.AST] = field(default_factory=dict)
    stale: tuple[ast.Call, str] | None = None


def stale_backwards(function: Function, file: ProjectFile, project: Project) -> Iterator[StaleBackward]:
    """Yields the steps of a function that come before a backward which needs what they change."""
    sources = {one.call: one for one in backwards(function)}
    if not sources:
        return
    steps = {}
    for node in function.own_nodes:
        stepped = _stepped(node)
        if stepped is not None and isinstance(node, ast.Call):
            steps[node] = optimized(stepped, function, project)
    networks = frozenset(name for several in steps.values() for name in several)
    if not networks:
        return
    for body in _bodies(function):
        yield from _along(list(_flat(body)), _Seen(function, file, networks, steps, sources))


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What a function steps, and from where it runs backward."""

    function: Function
    file: ProjectFile
    networks: frozenset[str]
    steps: dict[ast.Call, frozenset[str]]
    sources: dict[ast.Call, BackwardCall]


def _along(statements: Sequence[ast.stmt], seen: _Seen) -> Iterator[StaleBackward]:
    graphs: dict[str, _Graph] = {}
    for statement in statements:
        for call in _calls(statement):
            if call in seen.sources:
                yield from _needed(seen.sources[call], graphs)
            for network in seen.steps.get(call, ()):
                for graph in graphs.values():
                    if network in graph.networks and graph.stale is None:
                        graph.stale = (call, network)
        _assign(statement, graphs, seen)


def _needed(backward: BackwardCall, graphs: dict[str, _Graph]) -> Iterator[StaleBackward]:
    """Yields the steps that changed what this backward needs."""
    for name in sorted(backward.names):
        graph = graphs.get(name)
        if graph is not None and graph.stale is not None:
            step, network = graph.stale
            graph.stale = None
            several = len(graph.networks) > 1
            yield StaleBackward(step, backward.call, graph.networks[network], network, name, several)


def _assign(statement: ast.stmt, graphs: dict[str, _Graph], seen: _Seen) -> None:
    if not isinstance(statement, ast.Assign):
        for node in walk(statement):
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Store)
                and not isinstance(statement, ast.AugAssign)
            ):
                graphs.pop(node.id, None)
        return
    made = _Graph()
    if not is_off(statement, seen.function, seen.file):
        _read(statement.value, made, graphs, seen.networks)
    for target in statement.targets:
        for one in getattr(target, "elts", [target]):
            graphs.pop(ast.unparse(one), None)
            if made.networks:
                graphs[ast.unparse(one)] = _Graph(dict(made.networks), made.stale)


def _read(value: ast.AST, made: _Graph, graphs: dict[str, _Graph], networks: frozenset[str]) -> None:
    """Adds what an expression's graph holds; what is detached holds nothing."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("detach", "item", "cpu", "numpy", "tolist"):
            return
        called = ast.unparse(value.func.value if value.func.attr == "module" else value.func).removesuffix(".module")
        if called in networks:
            made.networks.setdefault(called, value)
    elif isinstance(value, ast.Call) and ast.unparse(value.func) in networks:
        made.networks.setdefault(ast.unparse(value.func), value)
    elif isinstance(value, (ast.Name, ast.Attribute)):
        behind = graphs.get(ast.unparse(value))
        if behind is not None:
            made.networks = {**behind.networks, **made.networks}
            made.stale = made.stale or behind.stale
            return
    elif isinstance(value, (ast.Compare, ast.Lambda)):
        return
    for child in children(value):
        _read(child, made, graphs, networks)


def _stepped(node: ast.AST) -> ast.expr | None:
    """Returns the optimizer of `opt.step()` or `scaler.step(opt)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
        return node.args[0] if node.args else node.func.value
    return None


def _bodies(function: Function) -> Iterator[Sequence[ast.stmt]]:
    if isinstance(function.syntax, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        yield function.syntax.body
    for node in function.nodes_of((ast.For, ast.While)):
        if isinstance(node, (ast.For, ast.While)):
            yield node.body


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from _flat(statement.body)
        else:
            yield statement


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yields the calls of a plain statement; what is under a test or in a loop is not certain."""
    if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
        yield from (node for node in walk(statement) if isinstance(node, ast.Call))


def optimized(optimizer: ast.expr, function: Function, project: Project) -> frozenset[str]:
    """Returns the expressions of the networks that an optimizer was given, empty where it is not known."""
    if isinstance(optimizer, ast.Name):
        if optimizer.id in function.assigned:
            return _only(function.assigned[optimizer.id])
        if optimizer.id in function.parameters:
            return _passed(optimizer.id, function, project)
    own = own_attribute(optimizer)
    kind = project.class_of(function) if own else None
    if kind is not None:
        return _only([value for value, _ in project.class_attributes(kind, own)])
    return frozenset()


def _only(values: list[ast.expr]) -> frozenset[str]:
    found = [frozenset(_networks(value)) for value in values]
    return found[0] if found and all(one == found[0] for one in found) else frozenset()


def _networks(value: ast.expr) -> Iterator[str]:
    """`d` of `Adam(d.parameters(), lr=1e-3)`."""
    for argument in value.args[:1] if isinstance(value, ast.Call) else ():
        if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute):
            network = argument.func.value
            if argument.func.attr == "parameters" and isinstance(network, (ast.Name, ast.Attribute)):
                yield ast.unparse(network)


def _passed(name: str, function: Function, project: Project) -> frozenset[str]:
    """Through the callers: `step(d, opt_d)` where `opt_d = Adam(d.parameters())`."""
    answers: list[frozenset[str]] = []
    shift = function.implied
    for call, caller in project.callers(function)[:4]:
        given = dict(zip(function.parameters[shift:], call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
        there = optimized(given[name], caller, project) if name in given and caller is not function else frozenset()
        here = {parameter for parameter, value in given.items() if ast.unparse(value) in there}
        answers.append(frozenset(here))
    return answers[0] if answers and all(one == answers[0] for one in answers) else frozenset()

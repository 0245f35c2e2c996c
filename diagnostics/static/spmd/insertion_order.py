"""Dictionaries whose keys come in an order that the rank's own data decides. Pure.

`if scene["crowd"]: meters.append("sizes", ...)` before `meters.add("loss", ...)`: where the test holds first, "sizes"
stands before "loss", elsewhere behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from diagnostics.static.dataflow.taint_sources import DATA, RANK
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.static_divergence import StaticDivergence


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalKey:
    """A key that goes in under a test of the rank's data, before another that always goes in."""

    function: Function
    test: ast.If
    call: ast.Call
    key: str
    next_call: ast.Call


def rank_dependent_insertion(value: ast.Attribute, function: Function, project: Project) -> ConditionalKey | None:
    """Returns how the order of `self.meters` comes to differ, None where nothing says so."""
    kind = project.class_of(function)
    if kind is None or project.module_of_class(kind) is None or last_name(value.value) != "self":
        return None
    started = project.class_attributes(kind, value.attr)
    if not started or not all(isinstance(one, ast.Dict) and not one.keys for one, _ in started):
        return None
    fillers = [one for one in project.functions_seeing(kind) if _fills(one, ast.unparse(value))]
    calls = [pair for filler in fillers for pair in project.callers(filler)]
    for where in {id(caller): caller for _, caller in calls}.values():
        found = _in_function([call for call, caller in calls if caller is where], where, project)
        if found is not None:
            return found
    return None


def own_keys(value: ast.Attribute, function: Function, project: Project) -> tuple[ast.AST, Function] | None:
    """Returns where `self.sums` is given a key that comes from the rank's own share of the data."""
    kind, taints = project.class_of(function), project.fact(StaticDivergence).taints
    if kind is None or last_name(value.value) != "self":
        return None
    for method in project.functions_in(function.source):
        if project.class_of(method) is not kind:
            continue
        for node in method.nodes_of(ast.Subscript):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Store)
                and ast.unparse(node.value) == ast.unparse(value)
                and isinstance(node.slice, ast.Name)
                and (found := taints.of(node.slice, method)) is not None
                and found.why in (DATA, RANK)
            ):
                return node, method
    return None


def _fills(method: Function, text: str) -> bool:
    """Whether a method puts its first parameter into the dictionary as a key."""
    names = [name for name in method.parameters if name != "self"][:1]
    for node in method.own_nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr="setdefault"), args=[ast.Name(id=key), *_]):
                if key in names and ast.unparse(held) == text:
                    return True
            case ast.Subscript(value=held, slice=ast.Name(id=key), ctx=ast.Store()):
                if key in names and ast.unparse(held) == text:
                    return True
    return False


def _in_function(calls: list[ast.Call], function: Function, project: Project) -> ConditionalKey | None:
    file = project.file_with(function)
    keyed = sorted(((call, key) for call in calls if (key := _key(call))), key=lambda pair: pair[0].lineno)
    tests = {id(call): _test_around(call, function, file.parents) for call, _ in keyed}
    for at, (call, key) in enumerate(keyed):
        test = tests[id(call)]
        if test is None or any(tests[id(one)] is None and other == key for one, other in keyed[:at]):
            continue
        behind = [one for one, other in keyed[at + 1 :] if tests[id(one)] is None and other != key]
        before = {other for one, other in keyed[:at] if tests[id(one)] is None}
        behind = [one for one in behind if _key(one) not in before]
        if behind and project.fact(StaticDivergence).taints.of(test.test, function) is not None:
            return ConditionalKey(function, test, call, key, behind[0])
    return None


def _key(call: ast.Call) -> str:
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def _test_around(call: ast.Call, function: Function, parents: Mapping[ast.AST, ast.AST]) -> ast.If | None:
    around = parents.get(call)
    while around is not None and around is not function.syntax:
        if isinstance(around, ast.If):
            return around
        around = parents.get(around)
    return None

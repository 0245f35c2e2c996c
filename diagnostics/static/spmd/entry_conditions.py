"""What a function asks before it makes ranks meet, and what the call that enters it answers. Pure.

By its own constants a call rules operations out: `TempDir(path, sync=False)`. A save that asks for
`isinstance(model, FSDP)` meets nobody for a plain model, so that rank 0 may call it alone; which kind comes is said by
the call, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.project import Project

Constants = Mapping[str, ast.Constant]  # of a function's parameters, those whose value a call says

_NONE_KNOWN: Constants = {}
_HOMES = ("torch.distributed.fsdp.", "torch.distributed.tensor.", "torch.distributed._tensor.", "fairscale.nn.")
MOST_DEPTH = 3  # functions and names between a test and its isinstance()


def may_run(way: Sequence[tuple[ast.Call, Function]], target: Function, call: ast.Call, project: Project) -> bool:
    """Whether the calls of a way that begins in `target` can run when it is entered by `call`.

    A constant is followed from function to function as long as each hands it on, as `self._append(row, gather=gather)`
    does; so is a default that nobody overrides.
    """
    entered, known = target, _given(call, target, _NONE_KNOWN)
    for at, (node, _) in enumerate(way):
        if not _may_run(node, entered, known, project):
            return False
        if at + 1 < len(way):
            following = way[at + 1][1]
            known, entered = _given(node, following, known), following
    return True


def _may_run(node: ast.AST, target: Function, known: Constants, project: Project) -> bool:
    """Whether a node of a function can run, as far as constants decide it."""
    parents = project.file_with(target).parents
    inner, around = node, parents.get(node)
    while around is not None and around is not target.syntax:
        if isinstance(around, ast.If):
            truth = _truth(around.test, target, known)
            arm = around.body if truth is False else around.orelse if truth else []
            if any(one is inner for part in arm for one in walk(part)):
                return False
        inner, around = around, parents.get(around)
    return True


def _truth(test: ast.expr, target: Function, known: Constants) -> bool | None:
    """Returns how a test falls by what is known of the parameters in it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        truth = _truth(test.operand, target, known)
        return None if truth is None else not truth
    if isinstance(test, ast.BoolOp):
        ending = isinstance(test.op, ast.Or)
        truths = [_truth(one, target, known) for one in test.values]
        return ending if ending in truths else None if None in truths else not ending
    if not isinstance(test, ast.Name) or test.id in target.assigned or test.id not in known:
        return None
    return bool(known[test.id].value)


def _given(call: ast.Call, target: Function, outer: Constants) -> Constants:
    """Returns the parameters of a function that a call gives a constant, or leaves to one; `outer` holds the caller's.

    Nothing is known of a function that the call only hands on, as `Thread(target=self.work)` does.
    """
    foreign = any(one.arg not in target.parameters for one in call.keywords)  # `**given`, or another function's
    if foreign or any(isinstance(one, ast.Starred) for one in call.args):
        return _NONE_KNOWN
    found: dict[str, ast.Constant] = {}
    for at, name in enumerate(target.parameters):
        said = next((one.value for one in call.keywords if one.arg == name), None)
        if said is None:
            place = at - target.implied
            said = call.args[place] if 0 <= place < len(call.args) else default_of(target, name)
        if isinstance(said, ast.Name):
            said = outer.get(said.id)
        if isinstance(said, ast.Constant):
            found[name] = said
    return found


def asks_for_sharded(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether a node of a function runs only where an object is of a class that shards: FSDP, FSDPModule, DTensor."""
    return any(_asks(test, function, project, MOST_DEPTH) for test in _held(node, function, project))


def _held(node: ast.AST, function: Function, project: Project) -> Iterator[ast.expr]:
    """Yields the tests that hold where a node runs: around it, and before it those without which a function ends."""
    parents = project.file_with(function).parents
    inner, around = node, parents.get(node)
    while around is not None and inner is not function.syntax:
        if isinstance(around, ast.If) and inner is not around.test:
            negated = isinstance(around.test, ast.UnaryOp) and isinstance(around.test.op, ast.Not)
            if (inner in around.body) is not negated:
                yield around.test
        block = next((one for name in ("body", "orelse") if isinstance(one := getattr(around, name, None), list)
                      and inner in one), [])  # fmt: skip
        for before in block[: block.index(inner)] if block else ():
            test = before.test if isinstance(before, ast.If) and isinstance(before.body[-1], ast.Return) else None
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                yield test.operand
        inner, around = around, parents.get(around)


def _asks(test: ast.expr, function: Function, project: Project, depth: int) -> bool:
    """Whether a test comes down to isinstance() with such a class, through names and functions of the project."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return all(_asks(one, function, project, depth) for one in test.values)
    for node in walk(test):
        if isinstance(node, ast.Call) and last_name(node.func) == "isinstance" and len(node.args) == 2:
            if any(_is_sharded(one, function, project) for one in walk(node.args[1])):
                return True
        elif depth and isinstance(node, ast.Call):
            targets = project.targets(node, function)
            if targets and all(_answers(one, project, depth - 1) for one in targets):
                return True
        elif depth and isinstance(node, ast.Name) and node.id not in function.parameters:
            values = [one for one in function.assigned.get(node.id, ()) if not _is_false(one)]
            if values and all(_asks(one, function, project, depth - 1) for one in values):
                return True
    return False


def _answers(function: Function, project: Project, depth: int) -> bool:
    """Whether what a function returns comes down to isinstance() with such a class."""
    returned = [one for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return) and one.value is not None]
    return any(
        _asks(one.value, function, project, depth) for one in returned if one.value is not None
    ) or any(
        isinstance(one.value, ast.Constant) and one.value.value is True
        and any(_asks(test, function, project, depth) for test in _held(one, function, project))
        for one in returned
    )  # fmt: skip


def _is_sharded(node: ast.AST, function: Function, project: Project) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    name = project.name(node, function)
    return name.startswith(_HOMES) and name.rpartition(".")[2][:1].isupper()


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value

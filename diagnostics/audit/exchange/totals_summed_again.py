"""Running totals are summed over the ranks in every round, and carried on.

What it does: flags a loop in which a total grows (`total += ...`) and is summed over the ranks as well, in place or by
a function that gives the sum back, where the total lives on into the next round.

Why it matters: the sum of the earlier rounds is on every rank already, and is summed once more with each round: after n
rounds on 8 ranks the first one counts 8**n times. The total grows without bound, to inf and NaN; means that are made of
two such totals are those of the first batches.

Bad:

    for batch in loader:
        total += error(batch)
        dist.all_reduce(total)

Good:

    for batch in loader:
        total += error(batch)
    dist.all_reduce(total)

or, in the loop, a copy: `shown = total.clone(); dist.all_reduce(shown)`.

What it cannot see: totals of an object that are summed by one of its methods and grow in another. Entries of a dict are
seen, also where functions fill them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.exchange.summing_functions import bare_sum, made_from, names_in, sums_what_it_is_given
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A236"
NAME = "totals-summed-again"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
SUBJECT = MEETINGS
CHECKLIST = "running totals are summed over the ranks once, behind their loop"
_LOOPS = (ast.For, ast.While)
_DEPTH = 2  # of functions that hand a total on to what adds to it
_CHANGES = re.compile(r"(?:zero|fill|copy|div|mul|sub|true_divide|clamp)_|reset|clear|set_")
_WHETHER = re.compile(r"dist|world|parallel|ddp|multi|num_processes|gpus|initialized", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the sums of what was summed in the round before."""
    for function in project.functions_in(file):
        for loop in function.nodes_of(_LOOPS):
            if not isinstance(loop, _LOOPS):
                continue
            for statement in _each_round(loop.body):
                for text, summed, where in _summed(statement, function, project):
                    grows = _grows(text, loop, statement, function, project)
                    if grows is not None:
                        yield violation(
                            file,
                            statement,
                            f"{text} is summed over the ranks in every round and carried on: what is in it already is "
                            "multiplied by the number of ranks each time",
                            "sum once behind the loop, or sum a copy",
                            steps=(
                                step(file, grows, "it grows here, from round to round"),
                                step(project.file_with(where), summed, "summed over all ranks here"),
                            ),
                            confidence=Confidence.LIKELY,
                        )


def _each_round(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements of a loop that come in every round, wherever there is more than one rank."""
    for one in body:
        if isinstance(one, ast.With):
            yield from _each_round(one.body)
        elif isinstance(one, ast.If) and not one.orelse and _WHETHER.search(ast.unparse(one.test)):
            compared = [each for each in walk(one.test) if isinstance(each, (ast.BinOp, ast.BoolOp))]
            if not compared and not isinstance(one.body[-1], (ast.Break, ast.Return, ast.Raise, ast.Continue)):
                yield from _each_round(one.body)
        else:
            yield one


def _summed(
    statement: ast.stmt, function: Function, project: Project
) -> Iterator[tuple[str, ast.Call, Function]]:  # fmt: skip
    """Yields (text of the total, the sum over ranks, the function it is in) of a statement that sums in place."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        for given in call.args[:1]:
            if isinstance(given, (ast.Name, ast.Attribute)):
                text = ast.unparse(given)
                if bare_sum(call, function, project) is not None:
                    yield text, call, function
                elif (inner := sums_what_it_is_given(call, function, text, project, gives=False)) is not None:
                    yield text, *inner
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, (ast.Name, ast.Attribute)):
            text = ast.unparse(target)
            inner = sums_what_it_is_given(statement.value, function, text, project, gives=True)
            if inner is not None:
                yield text, *inner
            for given in statement.value.args:  # `shown = summed(total)`, which sums the total itself
                if isinstance(given, (ast.Name, ast.Attribute)) and ast.unparse(given) != text:
                    own = ast.unparse(given)
                    inner = sums_what_it_is_given(statement.value, function, own, project, gives=False)
                    if inner is not None:
                        yield own, *inner


def _grows(
    text: str, loop: ast.For | ast.While, summing: ast.stmt, function: Function, project: Project
) -> ast.stmt | None:
    """Returns what adds to a total in a loop, None where it begins anew there, is divided or decides something."""
    root = text.partition(".")[0]
    if root not in function.parameters and not _made_before(root, loop, function):
        return None
    if isinstance(loop, ast.For) and _stores(loop.target, root):
        return None  # each round has one of its own
    if isinstance(loop, ast.While) and _mentions(loop.test, text):
        return None
    found: ast.stmt | None = None
    for one in (each for part in loop.body for each in walk(part)):
        if one is summing:
            continue
        if isinstance(one, ast.If) and _mentions(one.test, text):
            return None
        if isinstance(one, ast.Call) and _is_changed_by(one, text):
            return None
        if isinstance(one, ast.Assign) and root != text and any(_stores(target, root) for target in one.targets):
            return None
        if isinstance(one, (ast.For, ast.With)) and any(
            _stores(target, text) for target in ([one.target] if isinstance(one, ast.For) else _bound(one))
        ):
            return None
        if isinstance(one, ast.AugAssign) and _stores(one.target, text):
            if not isinstance(one.op, ast.Add):
                return None
            found = found or one
        elif isinstance(one, ast.Assign) and any(_stores(target, text) for target in one.targets):
            if not _mentions(one.value, text) or _scales(one.value):
                return None
            if _adds(one.value, text, function, project):
                found = found or one
        elif isinstance(one, ast.Expr) and _adds(one.value, text, function, project):
            found = found or one
    return found


def _made_before(name: str, loop: ast.AST, function: Function) -> bool:
    inside = {id(one) for one in walk(loop)}
    return any(id(value) not in inside for value in function.assigned.get(name, ()))


def _bound(block: ast.With) -> list[ast.expr]:
    return [one.optional_vars for one in block.items if one.optional_vars is not None]


def _stores(target: ast.expr, text: str) -> bool:
    """Whether an assignment is to a total, or into it."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_stores(one, text) for one in target.elts)
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    return ast.unparse(target) == text


def _mentions(value: ast.AST, text: str) -> bool:
    return any(isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) == text for one in walk(value))


def _scales(value: ast.expr) -> bool:
    return any(isinstance(one, ast.BinOp) and not isinstance(one.op, ast.Add) for one in walk(value)
               if not isinstance(value, ast.Call))  # fmt: skip


def _is_changed_by(call: ast.Call, text: str) -> bool:
    """Whether a method of a total sets it back or divides it."""
    if not isinstance(call.func, ast.Attribute) or _CHANGES.match(call.func.attr) is None:
        return False
    owner = call.func.value
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    return ast.unparse(owner) == text


def _adds(value: ast.expr, text: str, function: Function, project: Project) -> bool:
    """Whether an expression is a total and more, or a call adds to it."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return any(ast.unparse(one) == text or _adds(one, text, function, project) for one in (value.left, value.right))
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr == "add_":
        return _stores(value.func.value, text)
    return _adds_inside(value, {text}, function, project, _DEPTH)


def _adds_inside(call: ast.Call, texts: set[str], function: Function, project: Project, depth: int) -> bool:
    """Whether a function of the project adds to what a call gives it, which reads as one of some texts."""
    targets = project.targets(call, function)
    if len(targets) != 1 or isinstance(targets[0].syntax, ast.Module):
        return False
    target = targets[0]
    given = dict(zip(target.parameters[target.implied :], call.args, strict=False))
    given.update({one.arg: one.value for one in call.keywords if one.arg in target.parameters})
    names = {name for name, each in given.items() if ast.unparse(each) in texts}
    known = made_from(names, target.own_nodes) if names else set()
    if not known:
        return False
    for one in target.nodes_of((ast.AugAssign, ast.Assign, ast.Call)):
        if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add) and names_in(one.target) & known:
            return True
        if isinstance(one, ast.Assign) and any(_is_sum(each, known) for each in _values(one)):
            return True
        if isinstance(one, ast.Call) and depth and _adds_inside(one, known, target, project, depth - 1):
            return True
    return False


def _values(one: ast.Assign) -> list[ast.expr]:
    return list(one.value.elts) if isinstance(one.value, (ast.Tuple, ast.List)) else [one.value]


def _is_sum(value: ast.expr, known: set[str]) -> bool:
    """Whether a value is an entry of some totals and more: `old["sum"] + new`."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return False
    sides = [value.left, value.right]
    entries = [isinstance(one, (ast.Subscript, ast.Call)) and bool(names_in(one) & known) for one in sides]
    return any(entries) and not any(isinstance(one, (ast.Constant, ast.List, ast.JoinedStr)) for one in sides)

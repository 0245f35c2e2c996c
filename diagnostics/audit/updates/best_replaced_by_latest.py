"""The value that a new one has to beat is replaced whether it was beaten or not: the best is compared with the last.

What it does: flags a value to beat that is set to the current one beside the comparison with it, in each evaluation and
not only in those that win, where what wins is kept as the best (one file, one copied state), or where the value is
called the best. Comparisons in a method or function of the program are gone through.

Why it matters: whatever is better than the evaluation right before it wins. A loss that goes 0.5, 0.9, 0.8 leaves the
state with 0.8 in the file of the best: it is tested and deployed, and the log shows nothing of it.

Bad:

    if loss < self.best:
        torch.save(model.state_dict(), "best.pt")
    self.best = loss

Good:

    if loss < self.best:
        torch.save(model.state_dict(), "best.pt")
        self.best = loss

What it cannot see: values that are compared in another object than the one that keeps them, and files whose names are
made elsewhere. Left alone: a file for each evaluation, and a state that is put back where the value got worse.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A351"
NAME = "best-replaced-by-latest"
SEVERITY = Severity.ERROR
RUN_CLASS = "state-not-kept"
CHECKLIST = "the best value is replaced by better ones only"
_TRAINS = re.compile(r"torch|keras|flax|jax|lightning|state_dict", re.IGNORECASE)
_ORDERS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
_ORDERING_CALLS = frozenset(["less", "greater", "less_equal", "greater_equal", "lt", "gt", "le", "ge", "monitor_op"])
_BEST = re.compile(r"(?:^|_)best(?:_|$)|(?:[a-z]|^)Best(?:[A-Z]|$)|^best[a-z]", re.IGNORECASE)
_SAVES = re.compile(r"(?:^|_)(?:save|dump)|^checkpoint$")
_RESTORES = re.compile(r"^load(?:_|$)|restore|roll_?back|revert")
# What makes a file one of an evaluation, or the newest of a training, and not that of the best.
_EACH = re.compile(r"epoch|step|iter|round|last|latest|count|date|time|(?:^|\W)[ijkt](?:\W|$)", re.IGNORECASE)
_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the values to beat that each evaluation replaces."""
    if file.is_test or not _TRAINS.search(file.text):
        return
    for function in project.functions_in(file):
        if function.nodes_of(ast.Assign):
            for block in _blocks(function.syntax):
                yield from _replaced(block, function, file, project)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yields the statement lists of a function, those of functions inside it left out."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    inside = (*getattr(node, "body", ()), *getattr(node, "orelse", ()), *getattr(node, "finalbody", ()),
              *getattr(node, "handlers", ()))  # fmt: skip
    for one in inside:
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from _blocks(one)


def _replaced(
    block: Sequence[ast.stmt], function: Function, file: ProjectFile, project: Project
) -> Iterator[Violation]:
    for at, one in enumerate(block):
        best, value, named = _replacing(one)
        if not best or value is None or _BEST.search(last_name(value)) or _is_extreme(value, function):
            continue
        found = _compared(block[:at], best, ast.unparse(value), function, project)
        if found is None:
            continue
        comparison, where, first = found
        kept = _kept(block[first:], comparison, best, function, project)
        if (kept is None and not named) or _is_put_back(block[first:]):
            continue
        steps = [step(project.file_with(where), comparison, f"asked here whether it beats {best}")]
        if kept is not None:
            steps.append(step(file, kept, "kept as the best where it does"))
        yield violation(
            file,
            one,
            f"{best} becomes {ast.unparse(value)} in each evaluation, also where that was no better: the next one has "
            "to beat the latest, not the best, and what is kept as the best may be a worse one",
            "replace the value to beat only where the new one is better",
            steps=tuple(steps),
            confidence=Confidence.LIKELY,
        )


def _replacing(statement: ast.stmt) -> tuple[str, ast.expr | None, bool]:
    """Returns what a statement replaces by which value, and whether it is called the best; of a list, its last item."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):  # state["best"]
            named = bool(_BEST.search(ast.unparse(target.slice).strip("'\"")))
            return ast.unparse(target), value if _is_plain(value) else None, named
        if _is_plain(target):
            return ast.unparse(target), value if _is_plain(value) else None, bool(_BEST.search(last_name(target)))
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        value = call.args[0] if len(call.args) == 1 else call
        return f"{ast.unparse(call.func.value)}[-1]", value if _is_plain(value) else None, False
    return "", None, False


def _is_plain(value: ast.expr) -> bool:
    return isinstance(value, (ast.Name, ast.Attribute))


def _is_extreme(value: ast.expr, function: Function) -> bool:
    """Whether a value is the largest or smallest of several, and so a best one itself."""
    made = function.assigned.get(value.id, []) if isinstance(value, ast.Name) else []
    return any(isinstance(one, ast.Call) and last_name(one.func) in ("max", "min") for one in made)


def _compared(
    before: Sequence[ast.stmt], best: str, value: str, function: Function, project: Project
) -> tuple[ast.AST, Function, int] | None:
    """Returns what orders the two in the statements before one, the function it is in, and the statement's place.

    None where a statement between may leave the block: then the value is set only where some test came out one way.
    """
    for at in range(len(before) - 1, -1, -1):
        one = before[at]
        sets = {text for each in walk(one) for text in _set(each)}
        if value in sets:
            return None
        for node in walk(one):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], _ORDERS):
                if {best, value} <= _ordered(node) | _loosely(node):
                    return (node, function, at) if not _leaves(one) else None
            elif isinstance(node, ast.Call):
                called = _ordered_by_call(node, best, value, function, project)
                if called is not None:
                    return (*called, at) if not _leaves(one) else None
        if best in sets or _leaves(one):
            return None
    return None


def _set(node: ast.AST) -> set[str]:
    """Returns the texts of what a statement sets."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For)):
        targets = [node.target]
    parts = [each for one in targets for each in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])]
    return {ast.unparse(one) for one in parts}


def _ordered(comparison: ast.Compare) -> set[str]:
    """Returns the texts of what is compared, also of what has a margin to win by: `loss < best - delta`."""
    sides = [comparison.left, comparison.comparators[0]]
    if isinstance(comparison.ops[0], (ast.Gt, ast.GtE)):
        sides.reverse()  # the less one first
    found = {ast.unparse(one) for one in sides}
    for side, sign, factor in zip(sides, (ast.Add, ast.Sub), (1.0, -1.0), strict=True):
        if isinstance(side, ast.BinOp) and isinstance(side.op, sign):
            found |= {ast.unparse(side.left)}
        elif isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult):
            for one, by in ((side.left, side.right), (side.right, side.left)):
                if isinstance(by, ast.Constant) and isinstance(by.value, (int, float)) and factor * (by.value - 1) > 0:
                    found |= {ast.unparse(one)}
    return found


def _loosely(comparison: ast.Compare) -> set[str]:
    """Returns the same where it is the other way round: what is worse by a margin at most, `loss < best + delta`."""
    turned = {ast.Lt: ast.Gt(), ast.LtE: ast.GtE(), ast.Gt: ast.Lt(), ast.GtE: ast.LtE()}[type(comparison.ops[0])]
    return _ordered(ast.Compare(left=comparison.left, ops=[turned], comparators=comparison.comparators))


def _sides(*sides: ast.expr) -> set[str]:
    """Returns the texts of what a call is given, and of what stands in it beside a margin."""
    parts = [part for one in sides if isinstance(one, ast.BinOp) for part in (one.left, one.right) if _is_plain(part)]
    return {ast.unparse(one) for one in (*sides, *parts)}


def _ordered_by_call(
    call: ast.Call, best: str, value: str, function: Function, project: Project
) -> tuple[ast.AST, Function] | None:
    """Returns what orders a value and the one to beat by a call: `np.less(value, best)`, `self.improved(value)`."""
    if value not in (given := _sides(*call.args, *(one.value for one in call.keywords))):
        return None
    if best in given and last_name(call.func) in _ORDERING_CALLS:
        return call, function
    targets = project.targets(call, function)
    if len(targets) != 1:
        return None
    names = {}
    for name, one in zip(targets[0].parameters[targets[0].implied :], call.args, strict=False):
        names[ast.unparse(one)] = name
    names.update({ast.unparse(one.value): one.arg for one in call.keywords if one.arg})
    own = best.startswith("self.") and project.class_of(targets[0]) is project.class_of(function) is not None
    asked = {names.get(value, ""), names.get(best, best if own else "")}
    for node in targets[0].nodes_of(ast.Compare):
        assert isinstance(node, ast.Compare)  # noqa: S101 (asked for by kind)
        ordered = len(node.ops) == 1 and isinstance(node.ops[0], _ORDERS)
        if ordered and len(asked) == 2 and asked <= _ordered(node) | _loosely(node):
            return node, targets[0]
    return None


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may leave the block it is in, so that what follows is not done each time."""
    waiting: list[tuple[ast.AST, bool]] = [(statement, False)]
    while waiting:
        node, looped = waiting.pop()
        if isinstance(node, _LEAVES) and not (looped and isinstance(node, (ast.Continue, ast.Break))):
            return True
        inside = looped or isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            waiting += [(one, inside) for one in ast.iter_child_nodes(node)]
    return False


def _kept(
    block: Sequence[ast.stmt], comparison: ast.AST, best: str, function: Function, project: Project
) -> ast.AST | None:
    """Returns what keeps a state as that of the best, under a test that the comparison decides, or as a flag says.

    Who saves unless the loss doubled wants no best one: with a margin to lose by, it is what is done else that counts.
    """
    flags: set[str] = set()
    loose = isinstance(comparison, ast.Compare) and best not in _ordered(comparison) and best in _loosely(comparison)
    for one in block:
        for node in walk(one):
            if isinstance(node, ast.Assign) and _decides(node.value, comparison, flags, function, project):
                flags |= {ast.unparse(each) for each in node.targets}
            elif isinstance(node, ast.If) and _decides(node.test, comparison, flags, function, project):
                kept = next((each for part in (*(() if loose else node.body), *node.orelse) for each in walk(part)
                             if _keeps(each, function, project)), None)  # fmt: skip
                if kept is not None:
                    return kept
            elif flags and isinstance(node, ast.Call) and _SAVES.search(last_name(node.func).lower()):
                given = [ast.unparse(each) for each in (*node.args, *(each.value for each in node.keywords))]
                if not loose and not flags.isdisjoint(given):
                    return node
    return None


def _decides(value: ast.AST, comparison: ast.AST, flags: set[str], function: Function, project: Project) -> bool:
    for one in walk(value):
        if one is comparison or (flags and isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) in flags):
            return True
        if isinstance(one, ast.Call):
            targets = project.targets(one, function)
            if any(each is comparison for target in targets for each in target.nodes_of(ast.Compare)):
                return True
    return False


def _keeps(node: ast.AST, function: Function, project: Project, depth: int = 1) -> bool:
    """Whether a node keeps a state under one name: a file that is written over, or a copy."""
    if isinstance(node, ast.Assign) and "state_dict" in ast.unparse(node.value):
        return len(node.targets) == 1 and _is_plain(node.targets[0])
    if not (isinstance(node, ast.Call) and _SAVES.search(last_name(node.func).lower())):
        return False
    targets = project.targets(node, function) if depth else ()
    inside = [one for each in targets for one in each.nodes_of(ast.Call) if _SAVES.search(last_name(one.func).lower())]  # type: ignore[attr-defined]
    if inside and not all(_keeps(one, each, project, depth - 1) for each in targets for one in inside):
        return False
    given = [*node.args, *(one.value for one in node.keywords)]
    texts = [ast.unparse(one) for one in given if not isinstance(one, ast.Dict)]
    for one in given:
        if isinstance(one, ast.Name):
            texts += [ast.unparse(made) for made in function.assigned.get(one.id, []) if isinstance(made, (
                ast.JoinedStr, ast.Constant, ast.BinOp, ast.Call))]  # fmt: skip
    texts = [one for one in texts if "state_dict" not in one]
    if any("best" in one and not _EACH.search(one) for one in texts):
        return True
    return bool(texts) and not any(map(_EACH.search, texts))


def _is_put_back(block: Sequence[ast.stmt]) -> bool:
    """Whether a state is restored beside the comparison: then each evaluation begins at what was kept."""
    return any(
        isinstance(node, ast.Call) and _RESTORES.search(last_name(node.func)) for one in block for node in walk(one)
    )

"""The losses of a training loop are kept together with their graphs.

What it does: flags `losses.append(loss)`, `total += loss` and the like in the loop that calls backward on this loss,
where what they are kept in lives longer than the step and nothing detaches them; also through a method of the project
that only appends or adds what it is given: `history.add(loss)`.

Why it matters: each loss holds the graph that made it, and so every step's graph stays: memory grows with the number
of steps until a rank is killed, hours in, and its peers wait for it.

Bad:

    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss

Good:

        total += loss.detach()

What it cannot see: losses handed to functions and to meters of libraries, and those kept in validation without
no_grad.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Edit, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import is_off
from diagnostics.static.autograd.retained_graphs import keeps_argument, renews_own
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_loops import Loop, TrainingLoop, backwards, carries, training_loops

CODE = "A306"
NAME = "losses-kept-with-graph"
SEVERITY = Severity.WARNING
WORDS = ("backward", "manual_backward")
CHECKLIST = "losses are detached before they are kept"
_DETACHES = frozenset(
    ["item", "detach", "float", "detach_", "reduce_mean", "reduce_loss", "numpy", *operations.SUMS_FOR_ALL]
)

_BATCHES = re.compile(r"loader|log_every|batches|dataset", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the statements that keep a loss with its graph beyond its step."""
    for function in project.functions_in(file):
        for loop in training_loops(function, file):
            losses = loop.losses - frozenset(_detached(loop.loop))
            for node in walk(loop.loop):
                kept = _kept(node, losses)
                if kept is not None:
                    yield from _judged(node, *kept, loop, function, file)
                elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    yield from _handed(node.value, losses, loop, function, file, project)


def _judged(
    node: ast.AST, store: ast.expr, value: ast.expr, loop: TrainingLoop, function: Function, file: ProjectFile
) -> Iterator[Violation]:
    where = ast.unparse(store)
    loss = carries(value, loop.losses)
    if is_off(node, function, file) or any(where in one.names for one in backwards(function)):
        return
    lifetime = _lifetime(store, loop.loop, function, file)
    if lifetime is None or any(one.keeps_graph for one in loop.backwards):
        return
    ran = next(one for one in loop.backwards if loss in one.names)
    if _is_set_between(loss, ran.call, node, loop.loop):
        return  # by then the name holds another value than the one that backward ran from
    yield violation(
        file,
        node,
        f"{where} keeps {loss} with its graph: every step's graph stays in memory",
        f"keep the number: {loss}.detach(), or {loss}.item() where it is read on the CPU",
        steps=(
            step(file, ran.call, f"{loss} has a graph: backward runs from it"),
            step(file, node, f"{where} outlives the step and keeps it"),
        ),
        confidence=lifetime,
        edits=_edits(value, loss),
    )


def _is_set_between(name: str, ran: ast.AST, kept: ast.AST, loop: Loop) -> bool:
    lines = range(getattr(ran, "lineno", 0) + 1, getattr(kept, "lineno", 0))
    return any(
        isinstance(node, ast.Assign) and node.lineno in lines
        and any(ast.unparse(part) == name for one in node.targets for part in getattr(one, "elts", [one]))
        and not any(isinstance(one, ast.expr) and ast.unparse(one) == name for one in walk(node.value))
        for node in walk(loop)
    )  # fmt: skip


def _handed(
    call: ast.Call, losses: frozenset[str], loop: TrainingLoop, function: Function, file: ProjectFile, project: Project
) -> Iterator[Violation]:
    """Yields `history.add(loss)` where history is made before the loop and its method keeps what it is given."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(holder, ast.Name) or len(call.args) != 1 or call.keywords:
        return
    loss = carries(call.args[0], losses)
    targets = project.targets(call, function) if loss else ()
    keeps = keeps_argument(targets[0]) if len(targets) == 1 else None
    inside = any(_renews(node, holder.id) for node in walk(loop.loop))
    if keeps is None or inside or is_off(call, function, file) or any(one.keeps_graph for one in loop.backwards):
        return
    if any(
        isinstance(node, ast.Call) and node is not call and ast.unparse(node.func).startswith(f"{holder.id}.")
        and any(renews_own(one, keeps.attribute) for one in project.targets(node, function))
        for node in walk(loop.loop)
    ):  # fmt: skip
        return
    ran = next(one for one in loop.backwards if loss in one.names)
    yield violation(
        file,
        call,
        f"{ast.unparse(call)} keeps {loss} with its graph: every step's graph stays in memory",
        f"keep the number: {loss}.detach(), or {loss}.item() where it is read on the CPU",
        steps=(
            step(file, ran.call, f"{loss} has a graph: backward runs from it"),
            step(project.file_with(targets[0]), keeps.node, f"self.{keeps.attribute} keeps it"),
        ),
        confidence=Confidence.LIKELY,
        edits=_edits(call.args[0], loss),
    )


def _edits(value: ast.expr, loss: str) -> tuple[Edit, ...]:
    nodes = [one for one in walk(value) if isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) == loss]
    if len(nodes) != 1 or nodes[0].end_lineno is None or nodes[0].end_col_offset is None:
        return ()
    end = (nodes[0].end_lineno, nodes[0].end_col_offset)
    return (Edit(start=end, end=end, text=".detach()"),)


def _kept(node: ast.AST, losses: frozenset[str]) -> tuple[ast.expr, ast.expr] | None:
    """Returns (where, what) of a statement that keeps a loss."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and carries(node.value, losses):
        base = node.target.value if isinstance(node.target, ast.Subscript) else node.target
        return base, node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        return (node.func.value, node.args[0]) if len(node.args) == 1 and carries(node.args[0], losses) else None
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and len(node.targets) == 1:
        target, value = node.targets[0], node.value
        if ast.unparse(value.left) == ast.unparse(target) and isinstance(value.op, ast.Add):
            return (target, value.right) if carries(value.right, losses) else None
    return None


def _detached(loop: Loop) -> Iterator[str]:
    """Yields the names that the loop itself makes numbers of: `loss = loss.item()`."""
    for node in walk(loop):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = {last_name(one.func) for one in walk(node.value) if isinstance(one, ast.Call)}
            if called & _DETACHES:
                yield from (ast.unparse(one) for one in node.targets)
        elif isinstance(node, ast.Call) and last_name(node.func) == "detach_" and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func.value)


def _lifetime(store: ast.expr, loop: Loop, function: Function, file: ProjectFile) -> Confidence | None:
    """Returns how sure it is that a store outlives the steps, None where it is made anew or bounded."""
    base = store
    while isinstance(base, ast.Subscript):
        base = base.value
    where = ast.unparse(base)
    inner = [node for node in walk(loop) if _renews(node, where)]
    if any(node in loop.body or _is_straight(node, loop, file) for node in inner):
        return None
    if _is_of_one_batch(where, loop, file):
        return None
    made = function.assigned.get(where, []) if isinstance(base, ast.Name) else []
    if any(isinstance(value, ast.Call) and last_name(value.func) not in ("list", "zeros", "tensor", "defaultdict",
           "dict", "float", "int") for value in made):  # fmt: skip
        return None
    if inner:
        return Confidence.POSSIBLE
    return Confidence.CONFIRMED if made else Confidence.LIKELY


def _is_of_one_batch(where: str, loop: Loop, file: ProjectFile) -> bool:
    """Whether a loop over batches is around this one and makes the store anew: `for head in heads` in each batch."""
    around = file.parents.get(loop)
    while around is not None and not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(around, (ast.For, ast.AsyncFor)) and _BATCHES.search(ast.unparse(around.iter)):
            return any(_renews(node, where) for part in around.body for node in walk(part))
        around = file.parents.get(around)
    return False


def _renews(node: ast.AST, where: str) -> bool:
    if isinstance(node, ast.Assign):
        texts = [ast.unparse(one) for target in node.targets for one in getattr(target, "elts", [target])]
        again = isinstance(node.value, ast.BinOp) and ast.unparse(node.value.left) == where
        return where in texts and not again
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("clear", "popleft", "pop")
    ):
        return ast.unparse(node.func.value) == where
    return isinstance(node, ast.Delete) and any(ast.unparse(one).startswith(where) for one in node.targets)


def _is_straight(node: ast.AST, loop: Loop, file: ProjectFile) -> bool:
    """Whether every turn of the loop comes to a node."""
    outer = file.parents.get(node)
    while outer is not None and outer is not loop:
        if not isinstance(outer, (ast.With, ast.Expr)):
            return False
        outer = file.parents.get(outer)
    return True

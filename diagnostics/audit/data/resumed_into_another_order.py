"""A run that goes on in the middle of an epoch skips batches of another order than that of the run before.

What it does: flags a loop over a DataLoader with `shuffle=True` and no generator, sampler or seed of the epoch, which
leaves out the batches before the step that a checkpoint names.

Why it matters: the loader draws its permutation from the state that the random numbers have when the epoch begins. A
resumed run draws another one, and the batches that it skips are not those that were trained on: some samples are seen
twice in this epoch, and others never.

Bad:

    loader = DataLoader(data, shuffle=True)
    for step, batch in enumerate(loader):
        if epoch == start_epoch and step < resume_step:
            continue

Good:

    generator = torch.Generator().manual_seed(seed + epoch)
    loader = DataLoader(data, shuffle=True, generator=generator)

What it cannot see: a state of the random numbers that was kept at the beginning of the epoch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.ordering.traced_calls import is_seed
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A179"
NAME = "resumed-into-another-order"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
WORDS = ("continue", "islice")
CHECKLIST = "a resumed epoch skips the batches that were trained on"
_KEPT = re.compile(r"resum|skip|start|done|trained|offset|last|consumed|completed", re.IGNORECASE)
_PASSES = frozenset(["enumerate", "tqdm", "iter", "trange", "track", "log_every", "list"])
_ORDERS = frozenset(["generator", "sampler", "batch_sampler", None])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loops that skip."""
    for function in () if file.is_test else project.functions_in(file):
        for loop in function.nodes_of(ast.For):
            skips = _skips(loop) if isinstance(loop, ast.For) else None
            if skips is None or not isinstance(loop, ast.For) or _is_seeded(file, project):
                continue
            made = _shuffled(_inner(loop.iter), function, project)
            if made is not None:
                yield violation(
                    file,
                    skips,
                    "the batches that are skipped are those of a new permutation: in the epoch that is resumed some "
                    "samples are seen twice and others never",
                    "generator=torch.Generator().manual_seed(seed + epoch) for the loader of each epoch",
                    steps=(step(project.file_with(made[1]), made[0], "shuffled by the global random numbers"),),
                    confidence=Confidence.LIKELY,
                )


def _inner(value: ast.expr) -> ast.expr:
    """Returns what is gone through below enumerate and progress bars."""
    while isinstance(value, ast.Call) and last_name(value.func) in (*_PASSES, "islice") and value.args:
        value = value.args[0]
    return value


def _skips(loop: ast.For) -> ast.AST | None:
    """Returns where a loop leaves out the batches that a run before it has had."""
    counted = isinstance(loop.target, ast.Tuple) and isinstance(loop.target.elts[0], ast.Name)
    number = loop.target.elts[0].id if counted else ""  # type: ignore[attr-defined]
    for node in loop.body[:4]:
        if isinstance(node, ast.If) and len(node.body) <= 2 and isinstance(node.body[-1], ast.Continue):
            for test in walk(node.test):
                less = isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Lt, ast.LtE))
                if less and _is_kept(test.comparators[0]) and number == ast.unparse(test.left):  # type: ignore
                    return node
    for one in walk(loop.iter):
        if (
            isinstance(one, ast.Call)
            and last_name(one.func) == "islice"
            and len(one.args) > 2
            and _is_kept(one.args[1])
        ):
            return one
    return None


def _is_kept(value: ast.expr) -> bool:
    names = [last_name(node) if isinstance(node, (ast.Name, ast.Attribute)) else str(getattr(node, "value", ""))
             for node in walk(value) if isinstance(node, (ast.Name, ast.Attribute, ast.Constant))]  # fmt: skip
    return any(_KEPT.search(one) for one in names)


def _shuffled(value: ast.expr, function: Function, project: Project) -> tuple[ast.expr, Function] | None:
    """Returns the loader that draws its order from the global random numbers; None where one of several does not."""
    found = origins(value, function, project)
    for one, where in found:
        if not (isinstance(one, ast.Call) and project.name(one.func, where) == "torch.utils.data.DataLoader"):
            return None
        named = {each.arg: each.value for each in one.keywords}
        shuffle = named.get("shuffle")
        if _ORDERS & set(named) or not (isinstance(shuffle, ast.Constant) and shuffle.value is True):
            return None
    return found[0] if found else None


def _is_seeded(file: ProjectFile, project: Project) -> bool:
    """Whether something in the program seeds by the epoch, or begins an epoch with a state that was kept."""
    around = project.fact(ImportClosures).around(file.shown)
    for function in project.functions:
        for call in function.nodes_of(ast.Call) if function.file in around else ():
            if isinstance(call, ast.Call) and is_seed(last_name(call.func)) and "epoch" in ast.unparse(call):
                return True
    return False

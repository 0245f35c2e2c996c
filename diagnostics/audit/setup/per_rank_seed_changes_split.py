"""A seed that differs by the rank decides which samples are for training.

What it does: flags random_split, train_test_split and DistributedSampler whose generator, seed or random_state follows
from the rank, also by a seed for all of torch that is set in a line before, there or in a function called there.

Why it matters: each rank draws a split of its own. What one rank holds back for validation, another one trains on, and
the samples of the ranks overlap: validation scores are too good, and nothing warns. A seed per rank is right for
augmentation and dropout, after the split.

Bad:

    torch.manual_seed(seed + rank)
    train, val = random_split(dataset, [0.9, 0.1])

Good:

    train, val = random_split(dataset, [0.9, 0.1], generator=torch.Generator().manual_seed(seed))
    torch.manual_seed(seed + rank)

What it cannot see: splits made by the project's own functions with generators that are handed over.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions, is_rank_dependent, is_rank_guarded
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import SAMPLER, is_none

CODE = "A159"
NAME = "per-rank-seed-changes-split"
SEVERITY = Severity.ERROR
WORDS = ("random_split", "train_test_split", "DistributedSampler")
CHECKLIST = "splits are the same on every rank"
_SPLITS = {
    "torch.utils.data.random_split": ("generator", "torch.manual_seed"),
    "torch.utils.data.dataset.random_split": ("generator", "torch.manual_seed"),
    "sklearn.model_selection.train_test_split": ("random_state", "numpy.random.seed"),
    SAMPLER: ("seed", ""),
}
_FIX = (
    "one seed on all ranks for the split, e.g. generator=torch.Generator().manual_seed(seed); a seed per rank after it"
)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the splits that differ between ranks."""
    for call, function in project.calls_in(file):
        name = project.name(call.func, function)
        if name not in _SPLITS or is_rank_guarded(call, function, project):
            continue
        argument, seeding = _SPLITS[name]
        given = next((one.value for one in call.keywords if one.arg == argument), None)
        seed = _seed_of(given, function, project) if not is_none(given) else None
        if is_none(given) and seeding:
            seed = _seeded_before(call, function, project, seeding)
        if seed is not None:
            yield _hit(file, call, name.rpartition(".")[2], seed)


def _hit(file: ProjectFile, call: ast.Call, name: str, seed: ast.AST) -> Violation:
    what = "the ranks draw different orders, and their samples overlap" if name == "DistributedSampler" else (
        "each rank makes a split of its own, and one trains on what another one validates with"
    )  # fmt: skip
    return violation(
        file,
        call,
        f"{name} by a seed that follows from the rank ({ast.unparse(seed)[:50]}): {what}",
        _FIX,
        steps=(step(file, seed, "another value on each rank"), step(file, call, f"decides {name}")),
        confidence=Confidence.CONFIRMED,
    )


def _seed_of(given: ast.expr | None, function: Function, project: Project) -> ast.AST | None:
    """Returns the expression in a generator or seed that follows from the rank."""
    if given is None:
        return None
    seeds = [one for node in walk(given) if isinstance(node, ast.Call) for one in node.args] or [given]
    if isinstance(given, ast.Name):
        seeds = _seeds_of_name(given, function)
    return next((one for one in seeds if is_rank_dependent(one, function, project)), None)


def _seeds_of_name(name: ast.Name, function: Function) -> list[ast.expr]:
    """Returns what a named generator or seed is made with: its value, and what manual_seed is called with on it."""
    values = list(function.assigned.get(name.id, ()))
    found = [one for value in values for node in walk(value) if isinstance(node, ast.Call) for one in node.args]
    found += [value for value in values if not isinstance(value, ast.Call)]
    for node in function.own_nodes:
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "manual_seed" and ast.unparse(called.value) == name.id:
            assert isinstance(node, ast.Call)  # noqa: S101 (called is its function)
            found += node.args
    return found


def _seeded_before(call: ast.Call, function: Function, project: Project, seeding: str) -> ast.AST | None:
    """Returns the last seed that was set in a function before a call, if it follows from the rank."""
    before = [
        node
        for node in function.nodes_of(ast.Call)
        if isinstance(node, ast.Call) and node.lineno < call.lineno and any(_seeds(node, function, project, seeding))
    ]
    last = max(before, key=lambda one: one.lineno, default=call)
    if last is call or any(True for _ in _own_conditions(last, function, project)):
        return None
    by_rank = any(is_rank_dependent(one, where, project) for one, where in _seeds(last, function, project, seeding))
    direct = project.name(last.func, function) == seeding
    return (last.args[0] if direct else last) if by_rank else None


def _seeds(call: ast.Call, function: Function, project: Project, seeding: str) -> Iterator[tuple[ast.expr, Function]]:
    """Yields what a call seeds with: itself, or through a function of the project."""
    if project.name(call.func, function) == seeding:
        yield from ((one, function) for one in call.args[:1])
        return
    for target in project.targets(call, function):
        given = dict(zip(target.parameters[target.implied :], call.args, strict=False))
        given.update({one.arg: one.value for one in call.keywords if one.arg})
        for inner in target.nodes_of(ast.Call):
            if isinstance(inner, ast.Call) and project.name(inner.func, target) == seeding:
                for seed in inner.args[:1]:
                    name = ast.unparse(seed)
                    passed = name in given and name not in target.assigned
                    yield (given[name], function) if passed else (seed, target)


def _own_conditions(node: ast.AST, function: Function, project: Project) -> Iterator[ast.expr]:
    return conditions(node, function, project.file_with(function))

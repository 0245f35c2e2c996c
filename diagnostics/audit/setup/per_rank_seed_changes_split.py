"""A seed that differs by the rank decides which samples are for training.

What it does: flags random_split, train_test_split, DistributedSampler, and permutations of which each rank takes a
part, whose generator, seed or random_state follows from the rank, also by a seed for all of torch that is set before:
there, in a function called there, or where the function is called. And train_test_split where nothing is seeded, and
set_epoch with a random number.

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

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions, differs_by_rank, is_rank_guarded
from diagnostics.static.dataflow.taint_sources import RANDOM, RANK, TIME, source_of
from diagnostics.static.executed.splits import parted_after_own_seed
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import SAMPLER, is_none
from diagnostics.static.torch_code.seeds import seeds
from diagnostics.static.torch_code.training_functions import INIT, MANAGED, WRAPPERS

CODE = "A159"
NAME = "per-rank-seed-changes-split"
SEVERITY = Severity.ERROR
RUN_CLASS = "data-leakage"
WORDS = ("random_split", "train_test_split", "DistributedSampler", "permutation", "randperm", "set_epoch", "shuffle")
CHECKLIST = "splits are the same on every rank"
_SPLITS = {
    "torch.utils.data.random_split": ("generator", "torch.manual_seed"),
    "torch.utils.data.dataset.random_split": ("generator", "torch.manual_seed"),
    "sklearn.model_selection.train_test_split": ("random_state", "numpy.random.seed"),
    SAMPLER: ("seed", ""),
}
_ORDERS = {"numpy.random.permutation": ("", "numpy.random.seed"), "torch.randperm": ("generator", "torch.manual_seed")}
_CALLERS = 4
_SEEDED_BY = {"seed", "generator", "random_state", "shuffle"}
_LOADS = {
    "datasets.load_dataset",
    "datasets.load_from_disk",
    "datasets.Dataset.from_dict",
    "datasets.Dataset.from_list",
}
_FIX = (
    "one seed on all ranks for the split, e.g. generator=torch.Generator().manual_seed(seed); a seed per rank after it"
)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the splits that differ between ranks."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for parted, seeded in parted_after_own_seed(execution):
        yield violation(
            home(parted, project),
            parted.node,
            "which samples are for training is drawn after a seed that follows from the rank: each rank has a split of "
            "its own, and trains on what another one holds back",
            _FIX,
            steps=(shown(seeded, project, "the seed of the rank"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    for call, function in project.calls_in(file):
        name = project.name(call.func, function)
        yield from _random_epoch(file, project, call, function)
        yield from _unseeded(file, project, call, function)
        dealt = name in _ORDERS and _is_dealt_out(call, function)
        if not (name in _SPLITS or dealt) or is_rank_guarded(call, function, project):
            continue
        argument, seeding = (_ORDERS if dealt else _SPLITS)[name]
        given = next((one.value for one in call.keywords if one.arg == argument), None)
        seed = _seed_of(given, function, project) if not is_none(given) else None
        found = (seed, function) if seed is not None else None
        if is_none(given) and seeding:
            found = _seeded_before(call, function, project, seeding)
        if found is not None:
            yield _hit(file, call, name.rpartition(".")[2], found[0], project.file_with(found[1]))


def _random_epoch(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> Iterator[Violation]:
    """`sampler.set_epoch(random.randint(0, 9999))`: each rank shuffles by a number of its own."""
    if last_name(call.func) != "set_epoch" or len(call.args) != 1:
        return
    drawn = next((one for one in walk(call.args[0]) if source_of(one) in (RANDOM, TIME)), None)
    seeded = any("seed" in word for word in file.words)
    if drawn is not None and not (seeded and source_of(drawn) == RANDOM):
        yield violation(
            file,
            call,
            f"{ast.unparse(drawn)[:50]} is another number on each rank: the ranks draw different orders, and their "
            "samples overlap",
            "set_epoch(epoch): the number of the epoch, which is the same on every rank",
            steps=(step(file, drawn, "another value on each rank"), step(file, call, "decides the order")),
            confidence=Confidence.LIKELY,
        )


def _unseeded(file: ProjectFile, project: Project, call: ast.Call, function: Function) -> Iterator[Violation]:
    """A split by NumPy's random numbers, which begin anywhere in each process, in a program that seeds nothing."""
    if last_name(call.func) != "train_test_split" or any(
        one.arg in _SEEDED_BY or one.arg is None for one in call.keywords
    ):
        return
    home = project.name(call.func, function)
    ours = home in _SPLITS or (isinstance(call.func, ast.Attribute) and _is_loaded(call.func.value, function, project))
    closures = project.fact(ImportClosures)
    made = next(closures.calls(file.shown, INIT, *WRAPPERS, *MANAGED), None) if ours else None
    if made is None or any("seed" in word for word in closures.words(file.shown)):
        return
    if not is_rank_guarded(call, function, project):
        yield violation(
            file,
            call,
            "train_test_split draws from the process's own random numbers, and nothing seeds them: each rank makes a "
            "split of its own, and one trains on what another one validates with",
            "a seed that is the same on all ranks: train_test_split(..., seed=42)",
            steps=(step(project.file_with(made[1]), made[0], "the program runs as several ranks"),),
            confidence=Confidence.LIKELY,
        )


def _is_loaded(value: ast.expr, function: Function, project: Project, rounds: int = 4) -> bool:
    """Whether a value comes from load_dataset of the library datasets, through its methods."""
    if rounds < 0:
        return False
    if isinstance(value, ast.Call) and project.name(value.func, function) in _LOADS:
        return True
    if isinstance(value, ast.Name):
        return any(_is_loaded(one, function, project, rounds - 1) for one in function.assigned.get(value.id, ()))
    inner = value.func if isinstance(value, ast.Call) else value
    return isinstance(inner, (ast.Attribute, ast.Subscript)) and _is_loaded(inner.value, function, project, rounds)


def _is_dealt_out(call: ast.Call, function: Function) -> bool:
    """Whether the rank takes every n-th of an order: `order[rank::world]`."""
    names = {name for name, values in function.assigned.items() if any(one is call for one in values)}
    return any(
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None
        and node.slice.lower is not None and any(source_of(one) == RANK for one in walk(node.slice.lower))
        and (node.value is call or (isinstance(node.value, ast.Name) and node.value.id in names))
        for node in function.nodes_of(ast.Subscript)
    )  # fmt: skip


def _hit(file: ProjectFile, call: ast.Call, name: str, seed: ast.AST, home: ProjectFile) -> Violation:
    overlap = name in ("DistributedSampler", "permutation", "randperm")
    what = "the ranks draw different orders, and their samples overlap" if overlap else (
        "each rank makes a split of its own, and one trains on what another one validates with"
    )  # fmt: skip
    return violation(
        file,
        call,
        f"{name} by a seed that follows from the rank ({ast.unparse(seed)[:50]}): {what}",
        _FIX,
        steps=(step(home, seed, "another value on each rank"), step(file, call, f"decides {name}")),
        confidence=Confidence.CONFIRMED,
    )


def _seed_of(given: ast.expr | None, function: Function, project: Project) -> ast.AST | None:
    """Returns the expression in a generator or seed that follows from the rank."""
    if given is None:
        return None
    seeds = [one for node in walk(given) if isinstance(node, ast.Call) for one in node.args] or [given]
    if isinstance(given, ast.Name):
        seeds = _seeds_of_name(given, function)
    return next((one for one in seeds if differs_by_rank(one, function, project)), None)


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


def _seeded_before(
    call: ast.Call, function: Function, project: Project, seeding: str, depth: int = 2
) -> tuple[ast.AST, Function] | None:
    """Returns the last seed that was set before a call, there or where its function is called, if it is the rank's."""
    before = [
        node
        for node in function.nodes_of(ast.Call)
        if isinstance(node, ast.Call) and node.lineno < call.lineno and any(seeds(node, function, project, seeding))
    ]
    last = max(before, key=lambda one: one.lineno, default=call)
    if last is call:
        return _seeded_by_callers(function, project, seeding, depth)
    if any(True for _ in _own_conditions(last, function, project)):
        return None
    by_rank = any(differs_by_rank(one, where, project) for one, where in seeds(last, function, project, seeding))
    direct = project.name(last.func, function) == seeding
    return (last.args[0] if direct else last, function) if by_rank else None


def _seeded_by_callers(
    function: Function, project: Project, seeding: str, depth: int
) -> tuple[ast.AST, Function] | None:
    """Returns the seed that was set before every call of a function, if it follows from the rank."""
    callers = project.callers(function)[:_CALLERS] if depth and function.name != "<module>" else []
    found = [_seeded_before(call, caller, project, seeding, depth - 1) for call, caller in callers]
    return found[0] if found and all(one is not None for one in found) else None


def _own_conditions(node: ast.AST, function: Function, project: Project) -> Iterator[ast.expr]:
    return conditions(node, function, project.file_with(function))

"""An IterableDataset of a distributed program never looks at its rank.

What it does: flags classes derived from IterableDataset, read through a DataLoader in a program with a process group,
in which nothing speaks of rank, world size or shards, or which deal out shards by get_worker_info() alone.

Why it matters: a sampler cannot deal out what has no indices. Each rank reads the whole stream, so that N ranks train
on the same batches: an epoch costs N times as much and teaches as much as one rank would.

Bad:

    class Lines(IterableDataset):
        def __iter__(self):
            yield from open(self.path)

Good:

    class Lines(IterableDataset):
        def __iter__(self):
            yield from islice(open(self.path), dist.get_rank(), None, dist.get_world_size())

What it cannot see: files that are other ones on each machine, and streams that a server deals out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_dependent, is_rank_guarded
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.executed.loading.workers import parted_by_rank_only, parted_by_worker_only, whole_streams
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import ITERABLE, LOADER, made_by_chance, managed
from diagnostics.static.torch_code.training_functions import INIT, WRAPPERS

CODE = "A158"
NAME = "iterable-dataset-without-rank"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "duplicate-data", "ranks"
WORDS = ("IterableDataset",)
# What a program says that divides by the data worker as well, or hands the share over to a library.
_OF_WORKERS = {"worker_init_fn", "worker_id", "split_by_worker", "split_dataset_by_node"}
CHECKLIST = "iterable data sets know their rank"
_KNOWS = re.compile(
    r"rank|world|replica|shard|split_by|split_data|num_nodes|node_id|process_index|partition|seed|generator|queue|socket|client",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"(?:^|_)RANK$|WORLD_SIZE$|PROCID$|NTASKS$")
_FILES = re.compile(r"^_?(?:my_|own_|all_)?shards?(?:_(?:paths?|files?|urls?|names?))?$", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the iterable data sets that give every rank, or every data worker, the same."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loader, stream in whole_streams(execution):
        kind = stream.kind.kind
        begun = next((one for one in kind.body if getattr(one, "name", "") == "__iter__"), kind)
        yield violation(
            project.file_with(stream.kind.module),
            begun,
            f"{kind.name} is read by several data workers, and nothing in it asks which one it is in: each hands over "
            "all of its samples",
            "take each num_workers-th sample, by torch.utils.data.get_worker_info()",
            steps=(shown(loader, project, "several workers read it"),),
            confidence=Confidence.LIKELY,
        )
    for share, reader in parted_by_worker_only(execution):
        assert share.node is not None  # noqa: S101 (asked for there)
        yield violation(
            home(share, project),
            share.node,
            "the data workers part this stream among them, and nothing parts it among the ranks: each rank reads all",
            "divide by rank * num_workers + worker, of world_size * num_workers",
            steps=(shown(reader, project, "every rank reads it"),),
            confidence=Confidence.LIKELY,
        )
    for own, reader in parted_by_rank_only(execution):
        assert own.node is not None  # noqa: S101 (asked for there)
        yield violation(
            home(own, project),
            own.node,
            "this is the share of the rank, and each of its data workers goes over all of it: the worker's number "
            "goes into a seed alone, and every sample comes once from each worker",
            "divide by rank * num_workers + worker, of world_size * num_workers",
            steps=(shown(reader, project, "several workers read it"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    module = project.module_of(file)
    for kind in (node for node in file.all_statements if isinstance(node, ast.ClassDef)):
        if not any(project.name(base, module) == ITERABLE for base in kind.bases):
            continue
        if _knows(kind, project):
            yield from _same_in_workers(file, kind, project)
            continue
        made = next(project.fact(ImportClosures).calls(file.shown, INIT, WRAPPERS[0], WRAPPERS[1]), None)
        used = _used(kind, file, project) if made is not None and not managed(file, project) else None
        if made is None or used is None:
            continue
        yield violation(
            file,
            kind,
            f"{kind.name} never looks at its rank: every rank reads the same stream",
            "give each rank its share in __iter__, by dist.get_rank() and dist.get_world_size() and the data worker's "
            "get_worker_info()",
            steps=(
                step(project.file_with(made[1]), made[0], "the program runs as several ranks"),
                step(project.file_with(used[1]), used[0], "each of them reads it here"),
            ),
            confidence=Confidence.LIKELY,
        )


def _same_in_workers(file: ProjectFile, kind: ast.ClassDef, project: Project) -> Iterator[Violation]:
    """Yields the share of a rank that each of its data workers reads whole."""
    share = next((one for one in walk(kind) if _is_share_of_rank(one)), None)
    closures = project.fact(ImportClosures)
    if share is None or _OF_WORKERS & closures.words(file.shown):
        return
    around = closures.around(file.shown)
    if any(function.file in around for _, function in project.calls_by_name.get("get_worker_info", ())):
        return
    for call, function in closures.calls(file.shown, LOADER):
        given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "dataset")]
        workers = next((one.value for one in call.keywords if one.arg == "num_workers"), None)
        if workers is None or not given or kind not in project.kinds(given[0], function):
            continue
        if _is_several(workers, function):
            yield violation(
                file,
                share,
                f"{kind.name} is divided over the ranks only, and {ast.unparse(workers)} data workers read it: each of "
                "them yields all samples of the rank",
                "divide by the data worker, too: get_worker_info().id and .num_workers",
                steps=(step(project.file_with(function), call, "each of its workers has a copy of the data set"),),
                confidence=Confidence.LIKELY,
            )
            return


def _is_share_of_rank(node: ast.AST) -> bool:
    """Whether a node takes every n-th from the rank's on: `files[rank::world]`, `islice(files, rank, None, n)`."""
    lower: ast.expr | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None:
        lower = node.slice.lower
    elif isinstance(node, ast.Call) and last_name(node.func) == "islice" and len(node.args) == 4:
        lower = node.args[1]
    return lower is not None and any(source_of(one) == RANK for one in walk(lower))


def _is_several(workers: ast.expr, function: Function) -> bool:
    """Whether a number of data workers is surely above 0: written there, or as the default of a parameter."""
    if isinstance(workers, ast.Name) and workers.id in function.parameters and workers.id not in function.assigned:
        given = default_of(function, workers.id)
        workers = given if given is not None else workers
    return isinstance(workers, ast.Constant) and isinstance(workers.value, int) and workers.value > 0


def _knows(kind: ast.ClassDef, project: Project) -> bool:
    """Whether anything in a class speaks of ranks or shards; files named so are no share where workers share them."""
    by_worker = _deals_by_worker(kind)
    methods = [project.by_syntax[id(one)] for one in kind.body if id(one) in project.by_syntax]
    called = [
        target
        for method in methods
        for one in method.nodes_of(ast.Call)
        if isinstance(one, ast.Call)
        for target in project.targets(one, method)
    ]
    for node in (*walk(kind), *(inner for one in called for inner in one.own_nodes)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VARIABLE.search(node.value):
            return True
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        name = name or (node.arg if isinstance(node, ast.arg) else "")
        if name and _KNOWS.search(name) and not (by_worker and _FILES.search(name)):
            return True
    return False


def _deals_by_worker(kind: ast.ClassDef) -> bool:
    """Whether a class takes every num_workers-th: what it is given is then all there is for this process."""
    steps = [one.step for one in walk(kind) if isinstance(one, ast.Slice) and one.step is not None]
    steps += [one.right for one in walk(kind) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod)]
    return any("num_workers" in ast.unparse(one) for one in steps)


def _used(kind: ast.ClassDef, file: ProjectFile, project: Project) -> tuple[ast.Call, Function] | None:
    """Returns a loader of a program with the class that reads it on every rank."""
    for call, function in project.fact(ImportClosures).calls(file.shown, LOADER):
        dataset = (
            call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "dataset"), None)
        )
        if dataset is None or kind not in project.kinds(dataset, function):
            continue
        if is_rank_dependent(dataset, function, project) or made_by_chance(dataset, function, project):
            continue
        if not is_rank_guarded(call, function, project):
            return call, function
    return None

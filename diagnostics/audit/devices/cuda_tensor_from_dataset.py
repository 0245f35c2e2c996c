"""A data set or collate function gives back tensors on a GPU, and workers run it.

What it does: flags `.cuda()`, `.to("cuda")` and `device="cuda"` in the __getitem__ or __iter__ of a data set and in a
collate_fn, where the loader has workers.

Why it matters: workers are forked from a process that has CUDA open: "Cannot re-initialize CUDA in forked
subprocess". Started by spawn, each worker makes a CUDA context of its own (some hundred MiB) on GPU 0, and tensors
that cross processes must be kept alive by the worker.

Bad:

    def __getitem__(self, i):
        return self.rows[i].cuda()

Good:

    loader = DataLoader(dataset, num_workers=4, pin_memory=True)
    for x in loader:
        x = x.to(device, non_blocking=True)

What it cannot see: loaders that other projects make of this data set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.workers import gpu_in_workers
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.devices import gpu_of, is_on_gpu, moved_to
from diagnostics.static.torch_code.loader_workers import LoaderWorkers, loaders, workers_over
from diagnostics.static.torch_code.module_classes import class_tree

CODE = "A401"
NAME = "cuda-tensor-from-dataset"
SEVERITY = Severity.ERROR
WORDS = ("cuda", "to", "device")
CHECKLIST = "data sets and collate functions give CPU tensors"
_METHODS = ("__getitem__", "__iter__", "__getitems__")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the places where worker code puts tensors on a GPU."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one, loader in gpu_in_workers(execution):
        yield violation(
            home(one, project),
            one.node,
            "this works on a GPU in a data worker: a forked process cannot use CUDA, and a spawned one makes a context "
            "of its own",
            "hand over tensors on the CPU, and move the batch in the training loop",
            steps=(shown(loader, project, "its workers run the data set"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    tree = class_tree(project)
    collates = _collates(file, project)
    for function in project.functions_in(file):
        known = tree.by_syntax.get(id(function.owner)) if function.owner is not None else None
        if known is not None and function.name.rpartition(".")[2] in _METHODS and tree.is_dataset(known):
            workers, loader = workers_over(known, project)
            yield from _moves(file, project, function, f"{known.syntax.name}.{function.name.rpartition('.')[2]}",
                              workers, loader)  # fmt: skip
        for loader in collates.get(id(function.syntax), ()):
            yield from _moves(file, project, function, "the collate function", loader.workers, loader)


def _put_or_read(function: Function, project: Project) -> Iterator[tuple[ast.AST, str]]:
    """Yields what puts a tensor on a GPU, and what gives back one that lies there."""
    for node in function.own_nodes:
        device = moved_to(node)
        if device is not None and (sure := gpu_of(device, function, project)):
            yield node, sure
    for node in function.nodes_of(ast.Return):
        given = node.value if isinstance(node, ast.Return) else None
        if given is not None and (sure := is_on_gpu(given, function, project)):
            yield node, sure


def _collates(file: ProjectFile, project: Project) -> dict[int, list[LoaderWorkers]]:
    """Returns the loaders by the collate function of this file that they call."""
    found: dict[int, list[LoaderWorkers]] = {}
    for loader in loaders(project):
        value = loader.words.get("collate_fn")
        for function in project.meant(value, loader.function) if value is not None else ():
            if function.file == file.shown:
                found.setdefault(id(function.syntax), []).append(loader)
    return found


def _moves(
    file: ProjectFile, project: Project, function: Function, who: str, workers: str, loader: LoaderWorkers | None
) -> Iterator[Violation]:
    if workers == "none":
        return
    for node, sure in _put_or_read(function, project):
        steps = [step(file, node, f"{who} {'reads' if isinstance(node, ast.Return) else 'puts'} a tensor on a GPU")]
        if loader is not None:
            where = project.file_with(loader.function)
            steps.append(step(where, loader.call, f"the loader has workers ({workers})"))
        confidence = Confidence.POSSIBLE
        if workers == "some":
            confidence = Confidence.CONFIRMED if sure == "always" else Confidence.LIKELY
        elif workers == "unknown" and sure == "always":
            confidence = Confidence.LIKELY
        told = "gives back tensors that lie" if isinstance(node, ast.Return) else "puts tensors"
        yield violation(
            file,
            node,
            f"{who} {told} on a GPU and runs in loader workers: forked workers raise 'Cannot re-initialize CUDA "
            "in forked subprocess'",
            "give back CPU tensors; move the batch in the loop: x.to(device, non_blocking=True) with pin_memory=True",
            steps=tuple(steps),
            confidence=confidence,
        )
        return

"""A data set shares an open file among workers, or keeps opening more.

What it does: flags h5py.File, lmdb.open and open() kept by __init__, by themselves or in a list or dict, and read in
__getitem__ of a data set whose loader has workers; and files that __getitem__ opens, keeps and never closes. Runs each
script on values that are not known, too: so files are found that another object opens and reads for the data set.

Why it matters: forked workers share one file position and one library state: reads come back mixed up or the HDF5
library crashes; spawned workers cannot get it pickled. A data set that keeps each file open runs into the limit of
open files: "Too many open files" after some hundred samples, in each worker.

Bad:

    def __init__(self, path):
        self.file = h5py.File(path)
    def __getitem__(self, i):
        return self.file["x"][i]

Good:

    def __getitem__(self, i):
        if self.file is None:              # each worker opens its own
            self.file = h5py.File(self.path)
        return self.file["x"][i]

What it cannot see: handles that worker_init_fn opens again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.open_handles import HANDLES, handles_of_workers
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.loader_workers import workers_over
from diagnostics.static.torch_code.module_classes import ModuleClass, class_tree, own_attribute

CODE = "A409"
NAME = "file-opened-in-dataset"
SEVERITY = Severity.WARNING
WORDS = ("Dataset", "IterableDataset")
CHECKLIST = "each loader worker opens its own files"
_READS = ("__getitem__", "__iter__")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the files that workers share, and those that pile up."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for handle, loader, used in handles_of_workers(execution):
        yield violation(
            home(handle, project),
            handle.node,  # type: ignore[arg-type] # the question asks for one
            f"this {handle.name} is opened before the loader starts its workers, and all of them share it",
            "open it where it is read the first time, so that each worker has its own",
            steps=(
                shown(loader, project, "the loader forks workers"),
                shown(used, project, "each worker reads it"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the class of a data set shows."""
    tree = class_tree(project)
    for function in project.functions_in(file):
        known = tree.by_syntax.get(id(function.owner)) if function.owner is not None else None
        if known is None or not tree.is_dataset(known):
            continue
        method = function.name.rpartition(".")[2]
        for node in function.nodes_of((ast.Assign, ast.Expr)):
            name = next((one for one in _opened(_put(node), function, project)), "")
            store = _store(node)
            if name and method == "__init__" and store and not _closes(function):
                yield from _shared(file, project, known, node, store, name)
            elif name and method in _READS and _is_one_kept(node):
                yield from _piling(file, known, function, node, name)


def _put(node: ast.AST) -> ast.expr | None:
    """Returns what a statement keeps: what is assigned, or appended to a list."""
    if isinstance(node, ast.Assign):
        return node.value
    call = node.value if isinstance(node, ast.Expr) else None
    appends = isinstance(call, ast.Call) and last_name(call.func) == "append" and len(call.args) == 1
    return call.args[0] if isinstance(call, ast.Call) and appends else None


def _store(node: ast.AST) -> str:
    """Returns the attribute that a statement keeps something in: itself, an item of it, or the end of its list."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return own_attribute(target.value if isinstance(target, ast.Subscript) else target)
    call = node.value if isinstance(node, ast.Expr) else None
    listed = call.func if isinstance(call, ast.Call) else None
    return own_attribute(listed.value) if isinstance(listed, ast.Attribute) else ""


def _is_one_kept(node: ast.AST) -> TypeGuard[ast.Assign]:
    """Whether a statement puts one open file under a key."""
    kept = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
    return kept and isinstance(_put(node), ast.Call)


def _opened(value: ast.expr | None, function: Function, project: Project) -> Iterator[str]:
    """Yields what opens the files that a value is, holds in a list or dict, or reads lazily: `h5py.File(path)["x"]`."""
    match value:
        case ast.Call() if (name := project.called(value, function)) in HANDLES:
            yield name
        case ast.List() | ast.Tuple():
            yield from (name for one in value.elts for name in _opened(one, function, project))
        case ast.Dict():
            yield from (name for one in value.values for name in _opened(one, function, project))
        case ast.ListComp(elt=one) | ast.DictComp(value=one):
            yield from _opened(one, function, project)
        case ast.Subscript(value=one, slice=ast.Constant(value=str())):
            yield from _opened(one, function, project)


def _closes(function: Function) -> bool:
    return any(last_name(one.func) == "close" for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call))


def _shared(
    file: ProjectFile, project: Project, known: ModuleClass, node: ast.AST, attribute: str, name: str
) -> Iterator[Violation]:
    read = next((one for one in _uses(known, attribute, _READS)), None)
    again = next((one for one in walk(known.syntax) if isinstance(one, ast.Assign) and one is not node
                  and any(own_attribute(target) == attribute for target in one.targets)
                  and not _is_empty(one.value)), None)  # fmt: skip
    workers, loader = workers_over(known, project)
    if read is None or again is not None or workers == "none":
        return
    if any(getattr(method, "name", "") in ("__getstate__", "__reduce__") for method in known.syntax.body):
        return
    steps = [step(file, node, f"{name} is opened before workers start"), step(file, read, "each worker reads it")]
    if loader is not None:
        steps.append(step(project.file_with(loader.function), loader.call, f"the loader has workers ({workers})"))
    yield violation(
        file,
        node,
        f"{known.syntax.name} opens self.{attribute} in __init__, and all workers share that one {name}",
        "open it in __getitem__ the first time, so that each worker has its own",
        steps=tuple(steps),
        confidence=Confidence.LIKELY if workers == "some" else Confidence.POSSIBLE,
    )


def _is_empty(value: ast.expr) -> bool:
    """Whether a value is a list or dict without anything in it: files are put there later."""
    if isinstance(value, ast.Call):
        return last_name(value.func) in ("list", "dict", "OrderedDict") and not value.args
    return (isinstance(value, ast.List) and not value.elts) or (isinstance(value, ast.Dict) and not value.values)


def _uses(known: ModuleClass, attribute: str, names: tuple[str, ...]) -> Iterator[ast.AST]:
    for method in known.syntax.body:
        if getattr(method, "name", "") in names:
            yield from (node for node in walk(method) if own_attribute(node) == attribute)


def _piling(
    file: ProjectFile, known: ModuleClass, function: Function, node: ast.Assign, name: str
) -> Iterator[Violation]:
    target = node.targets[0]
    store = own_attribute(target.value) if isinstance(target, ast.Subscript) else ""
    if not store or any(_lets_go(one, store) for one in walk(known.syntax)):
        return
    yield violation(
        file,
        node,
        f"{known.syntax.name} keeps every file it opens in self.{store}: 'Too many open files' once there are more "
        "than ulimit -n, in each worker",
        "open, read and close: with open(...) as file; or keep the last few (functools.lru_cache closes none)",
        steps=(step(file, node, f"{name} is opened and kept"), step(file, function.syntax, "for each sample")),
        confidence=Confidence.CONFIRMED,
    )


def _lets_go(node: ast.AST, store: str) -> bool:
    """Whether a class takes files out of its store again."""
    if isinstance(node, ast.Delete):
        return any(f"self.{store}" in ast.unparse(one) for one in node.targets)
    return isinstance(node, ast.Call) and last_name(node.func) in ("pop", "popitem", "clear", "close")

"""A process is forked while a thread may hold a lock that the child takes, too.

What it does: flags locks that a thread of the program takes, and that also the data set of a loader with forked workers
takes, or the target of a forked process.

Why it matters: fork copies the lock as it is and only the thread that forks. If the other thread holds the lock at that
moment, nobody in the child ever releases it: the worker waits for ever, its loader waits for it, and the other ranks
wait in the next collective. It happens once in many runs, and no stack of the parent shows why.

Bad:

    threading.Thread(target=evict, daemon=True).start()     # takes cache.lock now and then
    loader = DataLoader(dataset, num_workers=4)              # dataset[i] takes cache.lock in the forked worker

Good:

    loader = DataLoader(dataset, num_workers=4, multiprocessing_context="spawn", persistent_workers=True)

What it cannot see: locks inside of libraries, and whether the thread holds it for long. A program that replaces its
locks in the child (os.register_at_fork, worker_init_fn) is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.forked_processes import chooses_spawn, forks, in_threads, reached_from
from diagnostics.static.torch_code.loader_workers import loaders

CODE = "A410"
NAME = "lock-held-at-fork"
SEVERITY = Severity.WARNING
WORDS = ("DataLoader", "Process", "Pool", "fork")
_LOCKS = {"threading.Lock", "threading.RLock", "threading.Condition", "threading.Semaphore"}
_READS = ("__getitem__", "__iter__", "__getitems__")


@dataclass(frozen=True, eq=False)
class _Use:
    """A lock being taken."""

    node: ast.AST
    lock: ast.expr
    function: Function


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the forks whose child takes a lock that a thread may hold."""
    held = _held_by_threads(project)
    if not held or any("register_at_fork" in one.words for one in project.python):
        return
    for call, target in _children(file, project):
        for key, use in _taken(target, project):
            if key in held and not _is_of_the_child(use, target, project):
                thread, started_in, theirs = held[key]
                yield violation(
                    file,
                    call,
                    f"a process is forked here that takes `{ast.unparse(use.lock)}`, and a thread of this "
                    "process may hold it at that moment: the child's copy is never released, and it waits for ever",
                    'start the child with "spawn", or before the thread; or give it a lock of its own',
                    steps=(
                        step(project.file_with(started_in), thread, "a thread is started"),
                        step(project.file_with(theirs.function), theirs.node, "it takes the lock"),
                        step(project.file_with(use.function), use.node, "so does the forked process"),
                    ),
                    confidence=Confidence.LIKELY,
                )
                break


def _is_of_the_child(use: _Use, target: Function, project: Project) -> bool:
    """Whether objects that hold the lock are made by the child alone: no thread of the parent has ever had one."""
    if not isinstance(use.lock, ast.Attribute):
        return False
    makers = [where for value, where in project.attribute_values(use.lock, use.function)
              if _is_lock(value, where, project)]  # fmt: skip
    child = {id(one) for one in reached_from(target, project)}
    around = project.fact(ImportClosures).around(target.file)  # what other programs make is not in this one
    made = [function for one in makers for _, function in project.callers(one) if function.file in around]
    return bool(makers) and all(id(one) in child for one in made)


@per_project
def _held_by_threads(project: Project) -> dict[str, tuple[ast.Call, Function, _Use]]:
    """The locks that threads take: (where the thread is started, in which function, where it takes the lock)."""
    found: dict[str, tuple[ast.Call, Function, _Use]] = {}
    for call, function, target in in_threads(project):
        for key, use in _taken(target, project):
            found.setdefault(key, (call, function, use))
    return found


def _children(file: ProjectFile, project: Project) -> Iterator[tuple[ast.Call, Function]]:
    """Yields what forks in a file, with a function that the child runs."""
    for call, function in project.calls_in(file):
        if forks(call, function, project):
            for one in (one.value for one in call.keywords if one.arg == "target"):
                yield from ((call, target) for target in project.meant(one, function))
    if chooses_spawn(project):
        return
    for loader in loaders(project):
        if loader.function.file != file.shown or loader.workers == "none" or loader.context not in ("", "fork"):
            continue
        if "worker_init_fn" in {one.arg for one in loader.call.keywords} or loader.dataset is None:
            continue
        for kind in project.kinds(loader.dataset, loader.function):
            for name in _READS:
                reader = project.method(kind, name)
                if reader is not None:
                    yield loader.call, reader


def _taken(first: Function, project: Project) -> Iterator[tuple[str, _Use]]:
    """Yields the locks that a function takes, itself or through what it calls."""
    for function in reached_from(first, project):
        for node in function.own_nodes:
            lock = _lock_of(node)
            if lock is not None and (key := _key(lock, function, project)):
                yield key, _Use(node, lock, function)


def _lock_of(node: ast.AST) -> ast.expr | None:
    """Returns what a node takes, if it were a lock."""
    if isinstance(node, ast.withitem):
        return node.context_expr if isinstance(node.context_expr, (ast.Name, ast.Attribute)) else None
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return next((found for one in node.items if (found := _lock_of(one)) is not None), None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "acquire":
        return node.func.value
    return None


def _key(lock: ast.expr, function: Function, project: Project) -> str:
    """Returns what stands for one lock of the program, "" where it is none."""
    if isinstance(lock, ast.Attribute):
        values = project.attribute_values(lock, function)
        key = project.attribute_key(lock, function)
        return key if any(_is_lock(value, where, project) for value, where in values) else ""
    if not isinstance(lock, ast.Name):
        return ""
    file, original = project.imported(lock.id, function.file)
    home = file or function.file
    module = project.module_of(project.by_path[home])
    values_of_name = module.assigned.get(original if file else lock.id, ())
    return f"{home}:{original or lock.id}" if any(_is_lock(one, module, project) for one in values_of_name) else ""


def _is_lock(value: ast.expr, function: Function, project: Project) -> bool:
    return isinstance(value, ast.Call) and project.name(value.func, function) in _LOCKS

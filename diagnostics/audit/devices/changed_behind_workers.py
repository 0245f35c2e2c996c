"""A data set is changed between epochs, and its loader keeps the workers that have a copy from before.

What it does: flags attributes that a loop over epochs sets on a data set, by a method or directly, and that
`__getitem__` or `__iter__` reads, where the loader was made with `persistent_workers=True` and outside of that loop.

Why it matters: workers get a copy of the data set when they are forked, in the first epoch. Without persistent workers
they are forked anew with each epoch, and see the change; with them they go on with the first value: a curriculum that
never advances, the same shuffle in each epoch, an augmentation that stays off.

Bad:

    loader = DataLoader(dataset, num_workers=4, persistent_workers=True)
    for epoch in range(epochs):
        dataset.set_level(epoch / epochs)
        for batch in loader: ...

Good:

    self.level = torch.zeros(()).share_memory_()      # and self.level.fill_(...) in set_level
    loader = DataLoader(dataset, num_workers=4)       # or workers that are forked with each epoch

What it cannot see: attributes that workers are told of in another way, through a queue or a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.loader_workers import LoaderWorkers, loaders, loaders_of, made_by
from diagnostics.static.torch_code.module_classes import ModuleClass, class_tree, methods, own_attribute

CODE = "A413"
NAME = "changed-behind-workers"
SEVERITY = Severity.WARNING
RUN_CLASS = "state-not-kept"
WORDS = ("Dataset", "IterableDataset", "persistent_workers", "epoch")
CHECKLIST = "persistent workers see what changes with the epochs"
_READS = ("__getitem__", "__getitems__", "__iter__", "__next__")
_DEPTH = 2


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the changes that no worker sees."""
    for loader in loaders(project) if not file.is_test else ():
        kept = loader.words.get("persistent_workers")
        if not (isinstance(kept, ast.Constant) and kept.value is True) or loader.workers == "none":
            continue
        for known in {id(one.syntax): one for one in made_by(loader, project)}.values():
            yield from _changed(file, project, loader, known)


def _changed(file: ProjectFile, project: Project, loader: LoaderWorkers, known: ModuleClass) -> Iterator[Violation]:
    lineage = [known, *class_tree(project).bases(known)]
    read = _read_by_workers(lineage)
    setters = {method.name: (kind, set_) for kind in reversed(lineage) for method in methods(kind.syntax)
               if not method.name.startswith("__") and method.name not in read
               for set_ in [_set_by(method, read)] if set_ is not None}  # fmt: skip
    for function in project.functions_in(file) if read else ():
        for loop in function.nodes_of((ast.For, ast.While)):
            if any(_makes(loop, function, one, project, _DEPTH) for one in loaders_of(known, project)):
                continue
            found = next(_changes_in(loop, function, setters, set(read), known, project, _DEPTH), None)
            if found is None or not _goes_round(loop, function, project):
                continue
            node, where, attribute, setter = found
            steps = [step(project.file_with(loader.function), loader.call, "its workers are forked once, and stay")]
            if setter is not None:
                steps.append(step(setter[0].file, setter[1][1], f"sets self.{attribute} of the copy in this process"))
            steps.append(step(known.file, read[attribute], "the workers read theirs"))
            yield violation(
                project.file_with(where),
                node,
                f"{known.syntax.name}.{attribute} is changed here, and the loader's persistent workers keep the copy "
                "of the data set from before the first epoch: they never see it",
                "share_memory_() of a tensor, or multiprocessing.Value, that is filled; or persistent_workers=False",
                steps=tuple(steps),
                confidence=Confidence.LIKELY,
            )
            return


def _read_by_workers(lineage: list[ModuleClass]) -> dict[str, ast.AST]:
    """Returns the attributes that the methods read which workers run, with where."""
    by_name = {method.name: method for kind in reversed(lineage) for method in methods(kind.syntax)}
    waiting = [name for name in _READS if name in by_name]
    seen: set[str] = set()
    found: dict[str, ast.AST] = {}
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in walk(by_name[name]):
            attribute = own_attribute(node)
            if attribute in by_name:
                waiting.append(attribute)
            elif attribute and isinstance(getattr(node, "ctx", None), ast.Load):
                found.setdefault(attribute, node)
    return {name: node for name, node in found.items() if not _is_shared(name, by_name)}


def _is_shared(attribute: str, by_name: dict[str, ast.FunctionDef]) -> bool:
    """Whether an attribute lies in memory that processes share, or in each worker's own hands."""
    for name, method in by_name.items():
        for node in walk(method):
            if isinstance(node, ast.Assign) and any(own_attribute(one) == attribute for one in node.targets):
                text = ast.unparse(node.value)
                if name in _READS or any(word in text for word in ("share", "Value(", "Array(", "Manager", "Queue")):
                    return True
    return False


def _set_by(method: ast.FunctionDef, read: dict[str, ast.AST]) -> tuple[str, ast.AST] | None:
    """Returns the attribute that a method sets to something new, and where."""
    for node in walk(method):
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else targets
        for target in targets:
            if own_attribute(target) in read:
                return own_attribute(target), node
    return None


def _changes_in(
    around: ast.AST, function: Function, setters: dict[str, tuple[ModuleClass, tuple[str, ast.AST]]], read: set[str],
    known: ModuleClass, project: Project, depth: int,
) -> Iterator[tuple[ast.AST, Function, str, tuple[ModuleClass, tuple[str, ast.AST]] | None]]:  # fmt: skip
    """Yields (where, function, attribute, its setter) for what changes the data set in a loop, or in what it calls."""
    for node in walk(around):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in setters:
            setter = setters[node.func.attr]
            if _is_of(node.func.value, function, known, project):
                yield node, function, setter[1][0], setter
                continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                direct = isinstance(target, ast.Attribute) and target.attr in read and not own_attribute(target)
                if direct and _is_of(target.value, function, known, project):  # type: ignore[attr-defined]
                    yield node, function, target.attr, None  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and depth:
            for target_ in project.targets(node, function)[:3]:
                if project.class_of(target_) is not known.syntax:
                    yield from _changes_in(target_.syntax, target_, setters, read, known, project, depth - 1)


def _is_of(value: ast.expr, function: Function, known: ModuleClass, project: Project) -> bool:
    """Whether a value is an object of the class, also one that is asked of its loader."""
    if isinstance(value, ast.Attribute) and value.attr == "dataset":
        calls = {id(one.call): one for one in loaders(project)}
        asked = [calls[id(one)] for one, _ in origins(value.value, function, project) if id(one) in calls]
        return any(known.syntax is made.syntax for one in asked for made in made_by(one, project))
    return any(one is known.syntax for one in project.kinds(value, function))


def _makes(loop: ast.AST, function: Function, loader: LoaderWorkers, project: Project, depth: int) -> bool:
    """Whether a loop makes the loader itself, or calls what does: then its workers are new in each round."""
    for node in walk(loop):
        if node is loader.call:
            return True
        if isinstance(node, ast.Call) and depth:
            for target in project.targets(node, function)[:3]:
                if target is loader.function or _makes(target.syntax, target, loader, project, depth - 1):
                    return True
    return False


def _goes_round(loop: ast.AST, function: Function, project: Project) -> bool:
    """Whether a loop is one over epochs: it holds a loop over batches, or calls what does."""
    if any(node is not loop and isinstance(node, (ast.For, ast.While)) for node in walk(loop)):
        return True
    calls = [node for node in walk(loop) if isinstance(node, ast.Call)]
    return any(target.nodes_of(ast.For) for one in calls for target in project.targets(one, function)[:3])

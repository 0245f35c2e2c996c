"""Each epoch takes a fixed number of batches from the beginning of an endless stream, which is the same each time.

What it does: flags a loader whose `__iter__` makes an endless stream anew and takes a fixed number of items from it,
and `for epoch ...: for batch in islice(endless(), n)`, where nothing on the way shuffles.

Why it matters: what stands behind the first n batches is never trained on. The loss falls quickly, since the epochs
repeat the same few samples, and nothing tells that the rest of the data was left out.

Bad:

    def __iter__(self):
        stream = cycle(self.dataset)
        for _ in range(self.batches_per_epoch):
            yield collate(islice(stream, self.batch_size))

Good:

    def __init__(self, ...):
        self.stream = cycle(self.dataset)  # goes on where the epoch before has ended

What it cannot see: streams that other packages make. A set that is drawn from, shuffled or read through a DataLoader
begins with other samples each time: nothing is said of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import Origin, origins
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.data_loaders import EVALUATION

CODE = "A184"
NAME = "stream-begun-anew"
SEVERITY = Severity.ERROR
RUN_CLASS = "duplicate-data"
WORDS = ("islice", "range")
CHECKLIST = "an epoch of a stream begins where the one before has ended"
_MIXES = re.compile(r"shuffl|random|\brand|perm\b|permut|sampl|choice|DataLoader|rng|\bseed", re.IGNORECASE)
_DEPTH = 4
_LOOPS = (ast.For, ast.While)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the streams that begin at the same place in each epoch."""
    if file.is_test or not ("while" in file.text or "islice" in file.words or "range" in file.words):
        return
    for function in project.functions_in(file):
        made = _in_iter(function, project) if function.name.endswith("__iter__") else _in_loop(function, project, file)
        if made is None:
            continue
        value, endless = made
        yield violation(
            file,
            value,
            "an endless stream begins anew here in each epoch, which takes a fixed number of batches: only the first "
            "ones of the data are ever trained on",
            "make the stream once, and let each epoch go on where the one before has ended",
            steps=(step(project.file_with(endless[1]), endless[0], "it gives its items in one and the same order"),),
            confidence=Confidence.LIKELY,
        )


def _in_iter(function: Function, project: Project) -> tuple[ast.expr, Origin] | None:
    """Returns the stream that an object makes each time it is gone through, where a training does that in epochs."""
    kind = project.class_of(function)
    if kind is None or not function.is_generator or EVALUATION.search(kind.name) or not _takes_some(function):
        return None
    for name, values in function.assigned.items():
        if len(values) == 1 and isinstance(values[0], ast.Call) and _is_taken_from(name, function):
            endless = _endless(values[0], function, project, _DEPTH)
            if endless is not None and _is_trained_on(kind, project):
                return values[0], endless
    return None


def _takes_some(function: Function) -> bool:
    """Whether a generator ends after a fixed number of items: no loop of it goes on for ever."""
    loops = [one for one in function.nodes_of((ast.While, ast.For))
             if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(one))]  # fmt: skip
    return bool(loops) and all(
        isinstance(one, ast.For) and isinstance(one.iter, ast.Call) and last_name(one.iter.func) in ("range", "islice")
        for one in loops
    )


def _is_taken_from(name: str, function: Function) -> bool:
    return any(
        isinstance(one, ast.Call) and last_name(one.func) in ("islice", "next")
        and one.args and isinstance(one.args[0], ast.Name) and one.args[0].id == name
        for one in function.nodes_of(ast.Call)
    )  # fmt: skip


def _is_trained_on(kind: ast.ClassDef, project: Project) -> bool:
    """Whether objects of a class are gone through in a loop of epochs."""
    for function in project.functions:
        file = project.file_with(function)
        for loop in function.nodes_of(ast.For):
            if isinstance(loop, ast.For) and _around(loop, file) is not None and _trains(loop):
                over = loop.iter.args[0] if isinstance(loop.iter, ast.Call) and loop.iter.args else loop.iter
                if any(one is kind for one in project.kinds(over, function)):
                    return True
    return False


def _in_loop(function: Function, project: Project, file: ProjectFile) -> tuple[ast.expr, Origin] | None:
    """Returns the stream of which a loop of epochs takes the first batches in each round."""
    for loop in function.nodes_of(ast.For):
        outer = _around(loop, file)
        if not isinstance(loop, ast.For) or outer is None or not _trains(loop) or not isinstance(loop.iter, ast.Call):
            continue
        called = last_name(loop.iter.func)
        args = loop.iter.args
        stream = args[0] if called == "islice" and len(args) > 1 else args[1] if _counts(loop.iter) else None
        if stream is None:
            continue
        if isinstance(stream, ast.Name):
            values = function.assigned.get(stream.id, [])
            anew = len(values) == 1 and (
                any(one is values[0] for one in ast.walk(outer)) or _is_object(values[0], function, project)
            )
            stream = values[0] if anew else None
        endless = _endless(stream, function, project, _DEPTH) if isinstance(stream, ast.Call) else None
        if stream is not None and endless is not None:
            return stream, endless
    return None


def _counts(call: ast.Call) -> bool:
    """Whether a loop goes over `zip(range(n), stream)`."""
    first = call.args[0] if len(call.args) == 2 else None
    return last_name(call.func) == "zip" and isinstance(first, ast.Call) and last_name(first.func) == "range"


def _is_object(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value is an object that begins anew each time it is gone through, and no iterator."""
    kind = next(iter(project.kinds(value, function)), None)
    return (
        kind is not None
        and _method(kind, "__iter__", project) is not None
        and _method(kind, "__next__", project) is None
    )


def _around(loop: ast.AST, file: ProjectFile) -> ast.AST | None:
    outer = file.parents.get(loop)
    while outer is not None and not isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        if isinstance(outer, _LOOPS):
            return outer
        outer = file.parents.get(outer)
    return None


def _trains(loop: ast.For) -> bool:
    return any(
        isinstance(one, ast.Attribute) and one.attr == "backward" for part in loop.body for one in ast.walk(part)
    )


def _method(kind: ast.ClassDef, name: str, project: Project) -> Function | None:
    node = next((one for one in kind.body if isinstance(one, ast.FunctionDef) and one.name == name), None)
    return project.by_syntax.get(id(node)) if node is not None else None


def _endless(value: ast.expr, function: Function, project: Project, depth: int) -> Origin | None:
    """Returns what never ends in a stream, where nothing that it is made of mixes its items."""
    if not depth:
        return None
    for one, where in origins(value, function, project):
        if not isinstance(one, ast.Call):
            continue
        called = project.name(one.func, where)
        kept = isinstance(value, ast.Attribute)  # an iterator that an object keeps goes on where it was
        if called == "itertools.cycle" and one.args and not kept:
            return (one, where) if _is_ordered(one.args[0], where, project, _DEPTH) else None
        generators = [each for each in project.targets(one, where) if each.is_generator and not kept]
        kind = next(iter(project.kinds(one, where)), None)
        if kind is not None and (method := _method(kind, "__iter__", project)) is not None:
            generators.append(method)
        for each in generators:
            if _never_ends(each):
                ordered = not _MIXES.search(ast.unparse(each.syntax)) and bool(one.args)
                return (one, where) if ordered and _is_ordered(one.args[0], where, project, _DEPTH) else None
        if generators or (not kept and called in ("iter", "map", "enumerate")):
            for given in one.args:
                found = _endless(given, where, project, depth - 1)
                if found is not None:
                    return found
    return None


def _never_ends(function: Function) -> bool:
    return any(
        isinstance(one, ast.While) and isinstance(one.test, ast.Constant) and one.test.value
        and not any(isinstance(each, (ast.Return, ast.Break)) for each in ast.walk(one))
        and any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(one))
        for one in function.nodes_of(ast.While)
    )  # fmt: skip


def _is_ordered(value: ast.expr, function: Function, project: Project, depth: int) -> bool:
    """Whether all that a value may be is known to give its items in one order."""
    made = origins(value, function, project)
    for one, where in made:
        if isinstance(one, (ast.List, ast.Tuple, ast.ListComp)):
            continue
        if not isinstance(one, ast.Call) or _MIXES.search(ast.unparse(one)):
            return False
        called = project.name(one.func, where)
        if called in ("open", "sorted", "range"):
            continue
        if called in ("list", "iter") and one.args and depth:
            if _is_ordered(one.args[0], where, project, depth - 1):
                continue
            return False
        kinds = list(project.kinds(one, where))
        read = [
            each for kind in kinds for name in ("__iter__", "__getitem__") if (each := _method(kind, name, project))
        ]
        targets = [each for each in project.targets(one, where) if each.is_generator]
        if not (read or targets) or any(_MIXES.search(ast.unparse(each.syntax)) for each in [*read, *targets]):
            return False
    return bool(made)

"""A codebook that a module makes from counts of its own batch, under DDP, and nobody sums the counts.

What it does: flags buffers of a module that take in how often and by what each entry was chosen in the batch (one_hot,
bincount, scatter_add and the like), and that the module goes on to compute with, where the program wraps a model in
DistributedDataParallel and nothing in the class speaks with the other ranks.

Why it matters: no gradient goes to such a buffer, so that DDP averages nothing. With its default broadcast_buffers=True
it overwrites the buffers of all ranks with those of rank 0 before each forward: what the others saw is thrown away, and
the codebook learns from 1/N of the data. Without it each rank has a codebook of its own.

Bad:

    counts = F.one_hot(code, self.size).sum(0)
    self.cluster_size.lerp_(counts, 1 - self.decay)

Good:

    counts = F.one_hot(code, self.size).sum(0)
    dist.all_reduce(counts)
    self.cluster_size.lerp_(counts, 1 - self.decay)

What it cannot see: averages of a batch that are no counts. The running statistics of a normalisation are left to
SyncBatchNorm, and those of one rank do for them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.module_classes import class_tree, own_attribute

CODE = "A334"
NAME = "codebook-of-own-batch"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "rank-divergence", "several"
WORDS = ("register_buffer",)
CHECKLIST = "counts that buffers are made from are summed over the ranks"
_DDP = "torch.nn.parallel.DistributedDataParallel"
_CHOICES = frozenset(
    ["one_hot", "bincount", "scatter_", "scatter_add", "scatter_add_", "index_add", "index_add_", "scatter_reduce",
     "scatter_reduce_", "histc"]
)  # fmt: skip
_CHANGES = frozenset(["lerp_", "add_", "copy_", "sub_", "addcmul_"])
_PASSES_ON = frozenset(["data", "mul_", "detach"])  # `self.size.data.mul_(d).add_(counts)` changes the size
_SPEAKS = re.compile(r"reduce|gather|sync|broadcast", re.IGNORECASE)
_BY_ONE_RANK = frozenset(["scatter_reduce", "scatter_reduce_"])
_SUMS_ALL = frozenset(["buffers", "named_buffers"])  # a program that goes through them may sum them itself
_DEPTH = 3


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the first buffer of each class that is fed with the counts of one rank."""
    closures = project.fact(ImportClosures)
    wrapped = next(closures.calls(file.shown, _DDP), None)
    if file.is_test or wrapped is None or closures.words(file.shown) & _SUMS_ALL:
        return
    tree = class_tree(project)
    for kind in {id(one): one for function in project.functions_in(file) if (one := function.owner)}.values():
        known = tree.by_syntax.get(id(kind))
        if known is None or not tree.is_module(known):
            continue
        methods = [one for one in project.functions_in(file) if project.class_of(one) is kind]
        buffers = set(tree.parts(known).buffers)
        found = next(_fed(methods, buffers, project), None) if buffers else None
        if found is None or any(_speaks(one, project, 2) for one in methods):
            continue
        node, name, counted = found
        if not _is_read(name, node, methods, file):
            continue
        yield violation(
            file,
            node,
            f"self.{name} takes in what this rank's own batch chose, and no rank sums it: DDP overwrites it with that "
            "of rank 0 before each forward, so that it learns from 1/N of the data",
            "dist.all_reduce() of the counts and sums before the buffer takes them in",
            steps=(
                step(file, counted, "counted in this rank's batch"),
                step(project.file_with(wrapped[1]), wrapped[0], "several ranks train the model"),
            ),
            confidence=Confidence.LIKELY,
        )


def _fed(methods: list[Function], buffers: set[str], project: Project) -> Iterator[tuple[ast.stmt, str, ast.AST]]:
    """Yields (statement, buffer, count) where a buffer takes in what was counted in a batch."""
    for function in methods:
        if function.name.endswith("__init__"):
            continue
        for node in function.nodes_of((ast.Expr, ast.Assign, ast.AugAssign)):
            name, values = _changed(node)
            if name not in buffers or not isinstance(node, ast.stmt):
                continue
            counted = next((one for each in values for one in _counts(each, function, project, _DEPTH)), None)
            if counted is not None:
                yield node, name, counted


def _changed(node: ast.AST) -> tuple[str, list[ast.expr]]:
    """Returns the attribute of the object that a statement changes, and what it takes in."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call, base = node.value, node.value.func.value
        return (_buffer(base), [*call.args]) if node.value.func.attr in _CHANGES else ("", [])
    if isinstance(node, ast.Assign):
        return _buffer(node.targets[0]), [node.value]
    return (_buffer(node.target), [node.value]) if isinstance(node, ast.AugAssign) else ("", [])


def _buffer(value: ast.AST) -> str:
    while not own_attribute(value):
        if (
            isinstance(value, ast.Call)
            and last_name(value.func) in _PASSES_ON
            and isinstance(value.func, ast.Attribute)
        ):
            value = value.func.value
        elif isinstance(value, ast.Attribute) and value.attr in _PASSES_ON:
            value = value.value
        else:
            return ""
    return own_attribute(value)


def _counts(value: ast.AST, function: Function, project: Project, depth: int) -> Iterator[ast.AST]:
    """Yields the calls that count choices, in a value and in what its names stand for."""
    for node in walk(value):
        if isinstance(node, ast.Call) and last_name(node.func) in _CHOICES:
            yield node
        if not isinstance(node, ast.Name) or not depth:
            continue
        for call in function.nodes_of(ast.Call):
            match call:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=made)) if made in _CHOICES:
                    if name == node.id:
                        yield call
        for one in function.assigned.get(node.id, ()):
            if one is not value:
                yield from _counts(one, function, project, depth - 1)
        if node.id in function.parameters[function.implied :]:
            for one, where in list(project.arguments(node.id, function))[:_DEPTH]:
                yield from _counts(one, where, project, depth - 1)


def _speaks(function: Function, project: Project, depth: int) -> bool:
    """Whether a function names an operation of all ranks, or calls one that does."""
    for node in function.nodes_of((ast.Name, ast.Attribute)):
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = last_name(node)
            if _SPEAKS.search(name) and name not in _BY_ONE_RANK:
                return True
    calls = (one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and depth)
    called = (target for one in calls for target in project.targets(one, function) if target is not function)
    return any(_speaks(one, project, depth - 1) for one in called)


def _is_read(name: str, changed: ast.stmt, methods: list[Function], file: ProjectFile) -> bool:
    """Whether a class computes with a buffer elsewhere than where it is changed."""
    for function in methods:
        for node in function.nodes_of(ast.Attribute):
            if not isinstance(node, ast.Attribute) or own_attribute(node) != name or not isinstance(node.ctx, ast.Load):
                continue
            outer: ast.AST | None = node
            while outer is not None and not isinstance(outer, ast.stmt):
                outer = file.parents.get(outer)
            if outer is not None and outer is not changed and _changed(outer)[0] != name:
                return True
    return False

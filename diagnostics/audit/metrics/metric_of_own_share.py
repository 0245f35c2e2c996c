"""A Trainer's metric is that of the samples which one process evaluated, and decides when the training ends.

What it does: looks at classes on the Trainer of Transformers, in projects that start several processes and stop early
or load the best model at the end. Flags a compute_metrics that leaves what it is given alone and reads what the class's
prediction_step or compute_loss collected, and an evaluate() that goes over the loader itself; where no method of the
class, nor what collects, gathers anything.

Why it matters: the Trainer parts the evaluation among the processes and gathers what prediction_step returns, and
nothing else. Each process then has a metric of its own: one stops, or keeps another best model, and the others wait
for it in the next step.

Bad:

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        self.spans.append(decode(model(**inputs)))          # compute_metrics works with self.spans
        ...

Good:

    def metrics(self, _):
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, self.spans)
        ...

What it cannot see: what is collected outside the class, and evaluations that are meant for one process.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A239"
NAME = "metric-of-own-share"
SEVERITY = Severity.ERROR
WORDS = ("prediction_step", "compute_loss", "evaluate")
CHECKLIST = "a metric that decides is that of all ranks' samples"
_STARTS_SEVERAL = re.compile(r"\btorchrun\b|torch\.distributed\.(?:run|launch)\b|\baccelerate launch\b|\bdeepspeed\b")
_IN_PROGRAM = frozenset(["init_process_group", "LOCAL_RANK"])
_DECIDES = frozenset(["EarlyStoppingCallback", "load_best_model_at_end"])
# `compute` of torchmetrics is that of all processes.
_SHARES = re.compile(r"gather|reduce|broadcast|scatter|sync|pad_across|^compute$|^all_|is_world_process_zero")
_COLLECT = ("prediction_step", "compute_loss")
_LOADERS = ("get_eval_dataloader", "get_test_dataloader")
_DEPTH = 3
_MOST = 200


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what makes a metric of one process's samples."""
    if file.is_test or not _is_asked(project):
        return
    methods: dict[int, list[Function]] = {}
    for function in project.functions_in(file):
        if function.owner is not None and any(last_name(one).endswith("Trainer") for one in function.owner.bases):
            methods.setdefault(id(function.owner), []).append(function)
    for own in methods.values():
        if any(_shares(one, project, _DEPTH, set()) for one in own):
            continue
        yield from _collected(own, file)
        yield from _gone_over(own, file)


@per_project
def _is_asked(project: Project) -> bool:
    """Whether a project starts several processes, and lets a metric decide something."""
    files = [one for one in project.audited if not one.is_test]
    if all(one.words.isdisjoint(_DECIDES) for one in files):
        return False
    return any(not one.words.isdisjoint(_IN_PROGRAM) or _STARTS_SEVERAL.search(one.text) for one in files)


def _shares(function: Function, project: Project, depth: int, seen: set[int]) -> bool:
    """Whether a function has to do with other ranks, itself or through what it calls."""
    if id(function) in seen or len(seen) > _MOST:
        return False
    seen.add(id(function))
    for call in function.nodes_of(ast.Call):
        if isinstance(call, ast.Call):
            if _SHARES.search(last_name(call.func).lstrip("_")):
                return True
            if depth and any(_shares(one, project, depth - 1, seen) for one in project.targets(call, function)):
                return True
    return False


def _collected(methods: list[Function], file: ProjectFile) -> Iterator[Violation]:
    """Yields metrics of what a step of the evaluation collected, and not of what the Trainer gathered."""
    filled: dict[str, ast.AST] = {}
    for one in methods:
        if _short(one) in _COLLECT:
            filled.update(_filled(one))
    names = {name for one in methods for name in _metrics(one)} if filled else set()
    for one in methods:
        if _short(one) not in names or len(one.parameters) < 2 or _reads(one, one.parameters[1]):
            continue
        for node in one.nodes_of(ast.Attribute):
            kept = ast.unparse(node)
            if kept in filled:
                yield violation(
                    file,
                    node,
                    f"this metric is that of the samples which this process evaluated: {kept} is filled by each "
                    "process for itself and gathered nowhere, so that one stops before the others",
                    "gather it first (dist.all_gather_object), or return it from prediction_step, which is gathered",
                    steps=(step(file, filled[kept], "filled with this process's samples"),),
                    confidence=Confidence.LIKELY,
                )
                break


def _gone_over(methods: list[Function], file: ProjectFile) -> Iterator[Violation]:
    """Yields an evaluate() of a class's own that goes over the loader and returns what it worked out."""
    evaluate = next((one for one in methods if _short(one) == "evaluate"), None)
    if evaluate is None or any(_is_of_super(one) for one in evaluate.nodes_of(ast.Call)):
        return
    if not any(isinstance(one, ast.Return) and one.value is not None for one in evaluate.nodes_of(ast.Return)):
        return
    called = {last_name(one) for one in evaluate.nodes_of(ast.Call) if isinstance(one, ast.Call)}
    for one in methods:
        if one is not evaluate and _short(one) not in called:
            continue
        for loop in one.nodes_of(ast.For):
            if isinstance(loop, ast.For) and _is_loader(loop.iter, one):
                yield violation(
                    file,
                    loop,
                    "this evaluation goes over the part of the samples that this process was given, and what it "
                    "returns is gathered nowhere: each process has another metric, and one stops before the others",
                    "self.accelerator.gather_for_metrics of what is counted, before the metric is worked out",
                    steps=(step(file, evaluate.syntax, "stands for the Trainer's evaluate"),),
                    confidence=Confidence.LIKELY,
                )
                return


def _short(function: Function) -> str:
    return function.name.rpartition(".")[2]


def _filled(function: Function) -> Iterator[tuple[str, ast.AST]]:
    """Yields (attribute, where) of what a method puts something into: `self.spans.append(x)`, `self.rows[i] = x`."""
    for node in function.nodes_of((ast.Expr, ast.Assign, ast.AugAssign)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Attribute() as kept), args=[_, *_])):
                yield ast.unparse(kept), node
            case ast.Assign(targets=[ast.Subscript(value=ast.Attribute() as kept)]):
                yield ast.unparse(kept), node
            case ast.AugAssign(target=ast.Attribute() as kept):
                yield ast.unparse(kept), node


def _metrics(function: Function) -> Iterator[str]:
    """Yields the methods of the class that the Trainer is to compute metrics with."""
    for node in function.nodes_of((ast.Call, ast.Assign)):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            given = [one.value for one in node.keywords if one.arg == "compute_metrics"]
        elif isinstance(node, ast.Assign) and any(ast.unparse(one) == "self.compute_metrics" for one in node.targets):
            given = [node.value]
        yield from (one.attr for one in given if isinstance(one, ast.Attribute))


def _reads(function: Function, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in function.own_nodes)


def _is_of_super(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and last_name(node.func.value) == "super"
        and node.func.attr in ("evaluate", "evaluation_loop", "prediction_loop")
    )


def _is_loader(over: ast.expr, function: Function) -> bool:
    made = [
        over,
        *(each for one in walk(over) if isinstance(one, ast.Name) for each in function.assigned.get(one.id, ())),
    ]
    return any(isinstance(one, ast.Call) and last_name(one) in _LOADERS for value in made for one in walk(value))

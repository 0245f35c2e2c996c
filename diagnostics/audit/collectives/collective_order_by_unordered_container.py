"""Collectives in a loop whose order is another one on another rank.

What it does: flags loops with a collective in the body over a set, over files in the order of the directory, over a
list whose order is chosen by the rank, and over a dictionary that is filled in the order in which the rank's data came.
sorted() makes the order the same everywhere.

Why it matters: ranks meet in the order in which they call, not by name. Another order pairs the sum of one metric with
the maximum of another: wrong numbers, or a hang where the sizes or operations differ. The order of a set of strings
changes from process to process, by PYTHONHASHSEED.

Bad:

    for name in {"loss", "accuracy"}:
        dist.all_reduce(metrics[name])

Good:

    for name in sorted(metrics):
        dist.all_reduce(metrics[name])

What it cannot see: whether the elements of a set are integers, whose order is the same everywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.partial_evaluation import ConcreteEvaluator
from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.taint_sources import RANK
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites, SyncKind
from diagnostics.static.spmd.insertion_order import own_keys, rank_dependent_insertion
from diagnostics.static.spmd.static_divergence import StaticDivergence

CODE = "A216"
NAME = "collective-order-by-unordered-container"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "ranks call the same collectives in the same order"
_KEEPS = ("list", "tuple", "enumerate", "tqdm", "iter", "reversed")
_LISTINGS = ("os.listdir", "os.scandir", "glob.glob", "glob.iglob")
_SET_METHODS = ("union", "intersection", "difference", "symmetric_difference")
_NUMBERS = re.compile(
    r"rank|size|idx|index|indices|ids?$|step|layer|dim|dtype|device|group|num|len|epoch", re.IGNORECASE
)
_ROUNDS = 4
Loop = ast.For | ast.comprehension


@dataclass(frozen=True, slots=True)
class _Order:
    """Why the order of a loop can differ."""

    told: str
    confidence: Confidence
    steps: tuple[ExplanationStep, ...] = ()


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the loops with collectives whose order is the rank's own."""
    for function in project.functions_in(file) if file.shown in project.files else ():
        for node in function.own_nodes:
            for over, body in _loops(node):
                reach = _met(body, function, project)
                order = _order(over, function, project) if reach is not None else None
                if reach is not None and order is not None:
                    yield violation(
                        file, node,
                        f"{_called(reach)} is called in an order that differs between ranks: {order.told}",
                        "put the loop into one order on all ranks: for ... in sorted(...)",
                        steps=(*order.steps, *_way(reach, project)), confidence=order.confidence,
                    )  # fmt: skip


def _loops(node: ast.AST) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
    """Yields what is looped over, and what is done in each round."""
    match node:
        case ast.For(iter=over, body=body):
            yield over, list(body)
        case ast.ListComp(elt=part, generators=[one]) | ast.SetComp(elt=part, generators=[one]):
            yield one.iter, [part]
        case ast.DictComp(value=part, generators=[one]):
            yield one.iter, [part]


def _met(body: list[ast.AST], function: Function, project: Project) -> CollectiveSite | None:
    """Returns the first operation in a round in which ranks surely meet."""
    communication = project.fact(CollectiveSites)
    for part in body:
        for node in walk(part):
            reach = communication.of_call(node, function) if isinstance(node, ast.Call) else None
            if reach is not None and reach.sure and reach.meeting is SyncKind.COLLECTIVE and "barrier" not in reach.op:
                return reach
    return None


def _way(reach: CollectiveSite, project: Project) -> Iterator[ExplanationStep]:
    call, function = reach.leaf
    yield step(project.file_with(function), call, f"{_called(reach)}: ranks meet here by order alone")


def _called(reach: CollectiveSite) -> str:
    return reach.label or f"{reach.op}()"


def _order(over: ast.expr, function: Function, project: Project, rounds: int = _ROUNDS) -> _Order | None:
    """Returns why a loop over this goes in another order on another rank, None where nothing says so."""
    if rounds < 0:
        return None
    match over:
        case ast.Name():
            made = list(reaching_values(over, function, project)) or _of_module(over.id, function, project)
            found = _order(*made[0], project, rounds - 1) if len(made) == 1 else None
            return found or _of_iterator(over, function, project, rounds)
        case ast.Set(elts=parts):
            strings = len(parts) > 1 and all(
                isinstance(one, ast.Constant) and isinstance(one.value, str) for one in parts
            )
            return (
                _Order("a set of strings has another order in every process", Confidence.CONFIRMED) if strings else None
            )
        case ast.SetComp():
            return _of_set(ast.unparse(over.elt))
        case ast.IfExp():
            return _chosen(over, function, project)
        case ast.Call():
            return _of_call(over, function, project, rounds)
        case ast.Attribute():
            made = project.attribute_values(over, function)
            kept = _order(*made[0], project, rounds - 1) if len(made) == 1 else None
            return kept or _of_dictionary(over, function, project) or _of_iterator(over, function, project, rounds)
        case _:
            return None


def _of_iterator(value: ast.expr, function: Function, project: Project, rounds: int) -> _Order | None:
    """Returns why an object gives its items in another order: that of what its `__iter__` goes through."""
    for kind in list(project.kinds(value, function))[:1]:
        reader = project.method(kind, "__iter__")
        for node in reader.nodes_of((ast.Return, ast.For, ast.YieldFrom)) if reader is not None else ():
            over = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
            if isinstance(over, ast.Call) and last_name(over.func) == "iter" and over.args:
                over = over.args[0]
            found = _order(over, reader, project, rounds - 1) if over is not None and reader is not None else None
            if found is not None:
                return found
    return None


def _of_call(call: ast.Call, function: Function, project: Project, rounds: int) -> _Order | None:
    name, last = project.name(call.func, function), last_name(call.func)
    if name in ("set", "frozenset"):
        return _of_set(ast.unparse(call.args[0])) if call.args else None
    if last in _SET_METHODS and isinstance(call.func, ast.Attribute) and _is_set(call.func.value, function):
        return _of_set(ast.unparse(call.func.value))
    if name in _LISTINGS or (last in ("iterdir", "glob", "rglob") and isinstance(call.func, ast.Attribute)):
        return _Order(f"{last}() gives files in the order of the directory", Confidence.LIKELY)
    if name == "sorted":
        return _sorted_by_rank(call, function, project)
    if last in ("items", "keys", "values") and isinstance(call.func, ast.Attribute) and not call.args:
        return _order(call.func.value, function, project, 0)
    if name in _KEEPS and call.args:
        return _order(call.args[0], function, project, rounds - 1)
    return None


def _of_module(name: str, function: Function, project: Project) -> list[tuple[ast.expr, Function]]:
    module = project.module_of(project.file_with(function))
    return [(one, module) for one in module.assigned.get(name, ())]


def _is_set(value: ast.expr, function: Function) -> bool:
    made = function.assigned.get(value.id, []) if isinstance(value, ast.Name) else [value]
    return any(isinstance(one, ast.Call) and last_name(one.func) in ("set", "frozenset") for one in made)


def _of_set(text: str) -> _Order:
    numbers = any(_NUMBERS.search(word) for word in re.findall(r"\w+", text))
    sure = Confidence.POSSIBLE if numbers else Confidence.LIKELY
    return _Order(f"set({text}) has another order in every process where it holds no numbers", sure)


def _chosen(value: ast.IfExp, function: Function, project: Project) -> _Order | None:
    """`[row, column] if self.red else [column, row]`: the same things in another order."""
    arms = [one.elts if isinstance(one, (ast.List, ast.Tuple)) else [] for one in (value.body, value.orelse)]
    texts = [[ast.unparse(part) for part in arm] for arm in arms]
    if texts[0] == texts[1] or sorted(texts[0]) != sorted(texts[1]):
        return None
    told = f"`{ast.unparse(value.test)}` chooses it"
    if _asks(value.test, function, project):
        return _Order(told, Confidence.CONFIRMED)
    taint = project.fact(StaticDivergence).taints.of(value.test, function)
    if taint is None or taint.why != RANK:
        return None
    came = ExplanationStep(place=project.by_path[taint.file].place(taint.line), text="the rank comes in")
    return _Order(told, Confidence.LIKELY, (came,))


def _asks(test: ast.expr, function: Function, project: Project) -> bool:
    return RankPredicates(project).asks(test, function) is not None or ConcreteEvaluator(project).parts(test, function)


def _sorted_by_rank(call: ast.Call, function: Function, project: Project) -> _Order | None:
    """`sorted(jobs, key=lambda name: name != first)` where `first` is chosen by the rank."""
    key = next((one.value for one in call.keywords if one.arg == "key"), None)
    if not isinstance(key, ast.Lambda):
        return None
    for node in walk(key.body):
        if not isinstance(node, ast.Name) or node.id in [one.arg for one in key.args.args]:
            continue
        made = function.assigned.get(node.id, [])
        for value in made:
            if len(made) == 1 and isinstance(value, ast.IfExp) and _asks(value.test, function, project):
                came = step(project.file_with(function), value, "chosen by the rank")
                return _Order(f"the key of sorted() asks for `{node.id}`", Confidence.CONFIRMED, (came,))
    return None


def _of_own_keys(value: ast.Attribute, function: Function, project: Project) -> _Order | None:
    """A dictionary of the object whose keys are read off the rank's own data: each rank has others."""
    stored = own_keys(value, function, project)
    if stored is None:
        return None
    node, where = stored
    came = step(project.file_with(where), node, "a key of the rank's own data")
    return _Order(f"{ast.unparse(value)} has the keys that the rank's own data holds", Confidence.LIKELY, (came,))


def _of_dictionary(value: ast.Attribute, function: Function, project: Project) -> _Order | None:
    """A dictionary of the object that some ranks fill in another order."""
    found = rank_dependent_insertion(value, function, project)
    if found is None:
        return _of_own_keys(value, function, project)
    where = project.file_with(found.function)
    came = (step(where, found.test, f"only where this holds does {found.key!r} come first"),
            step(where, found.call, f"{found.key!r} is put in"),
            step(where, found.next_call, "another key is put in"))  # fmt: skip
    return _Order(f"{ast.unparse(value)} is filled in the order of the rank's own data", Confidence.LIKELY, came)

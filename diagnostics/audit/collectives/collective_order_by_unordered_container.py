"""Collectives in a loop whose order is another one on another rank.

What it does: flags loops with a collective in the body over a set, also one that is the difference of two or that is
filled elsewhere, over files in the order of the directory, over a list whose order is chosen by the rank, and over a
dictionary that is filled in the order in which the rank's data came. sorted() makes the order the same everywhere.

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
_SET_OPERATORS = (ast.Sub, ast.BitOr, ast.BitAnd, ast.BitXor)
_COUNTS = ("range", "arange")
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
            found = _first(made, function, project, rounds)
            return found or _of_iterator(over, function, project, rounds)
        case ast.Set(elts=parts):
            strings = len(parts) > 1 and all(
                isinstance(one, ast.Constant) and isinstance(one.value, str) for one in parts
            )
            return (
                _Order("a set of strings has another order in every process", Confidence.CONFIRMED) if strings else None
            )
        case ast.SetComp():
            return None if _is_counted(over) else _of_set(ast.unparse(over.elt))
        case ast.ListComp(generators=[one]) | ast.GeneratorExp(generators=[one]) | ast.DictComp(generators=[one]):
            return _order(one.iter, function, project, rounds - 1)
        case ast.BinOp(op=op):
            made_of_sets = isinstance(op, _SET_OPERATORS) and _is_set(over, function, project, rounds)
            return _of_set(ast.unparse(over), "{}") if made_of_sets else None
        case ast.IfExp():
            return _chosen(over, function, project)
        case ast.Call():
            return _of_call(over, function, project, rounds)
        case ast.Attribute():
            made = project.attribute_values(over, function)
            kept = _first(made, function, project, rounds)
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
        return _of_set(ast.unparse(call.args[0])) if call.args and not _counts(call.args[0]) else None
    if last in _SET_METHODS and isinstance(call.func, ast.Attribute):
        made_of_sets = _is_set(call.func.value, function, project, rounds)
        return _of_set(ast.unparse(call.func.value)) if made_of_sets else None
    if name in _LISTINGS or (last in ("iterdir", "glob", "rglob") and isinstance(call.func, ast.Attribute)):
        return _Order(f"{last}() gives files in the order of the directory", Confidence.LIKELY)
    if name == "sorted":
        return _sorted_by_rank(call, function, project)
    if last in ("items", "keys", "values") and isinstance(call.func, ast.Attribute) and not call.args:
        return _order(call.func.value, function, project, 0)
    if (name in _KEEPS or name == "dict.fromkeys") and call.args:
        return _order(call.args[0], function, project, rounds - 1)
    targets = project.targets(call, function)
    given = [one.value for target in targets for one in target.nodes_of(ast.Return) if isinstance(one, ast.Return)]
    if len(targets) == len(given) == 1 and given[0] is not None:
        return _first([(given[0], targets[0])], function, project, rounds)
    return None


def _first(made: list[tuple[ast.expr, Function]], function: Function, project: Project, rounds: int) -> _Order | None:
    """Returns the order of what a name or call stands for, where that is one thing, and shows where it is made."""
    if len(made) != 1:
        return None
    value, where = made[0]
    found = _order(value, where, project, rounds - 1)
    if found is None and isinstance(value, ast.Call) and last_name(value.func) == "set" and not value.args:
        found = _of_filled(value, where)
    if found is None or found.steps or where is function:
        return found
    came = step(project.file_with(where), value, "what is gone through is made here")
    return _Order(found.told, found.confidence, (came,))


def _of_filled(empty: ast.Call, function: Function) -> _Order | None:
    """`names = set()`, and `names.add(name)` further on: its order is that of any set of what is put in."""
    held = [name for name, values in function.assigned.items() if values == [empty]]
    for node in function.nodes_of(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr="add" | "update"), args=[put, *_]):
                if ast.unparse(base) in held:
                    counted = isinstance(put, ast.Constant) or _counts(put)
                    return None if counted else _of_set(ast.unparse(put))
    return None


def _of_module(name: str, function: Function, project: Project) -> list[tuple[ast.expr, Function]]:
    module = project.module_of(project.file_with(function))
    return [(one, module) for one in module.assigned.get(name, ())]


def _is_set(value: ast.expr, function: Function, project: Project, rounds: int) -> bool:
    return _kind(value, function, project, rounds) == "set"


def _kind(value: ast.expr, function: Function, project: Project, rounds: int) -> str:
    """Returns "set" for what is one: of set(), in braces, the difference of two; "numbers" where it holds those."""
    match value:
        case ast.Set(elts=parts):
            return "numbers" if any(isinstance(getattr(one, "value", None), int) for one in parts) else "set"
        case ast.SetComp():
            return "numbers" if _is_counted(value) else "set"
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _SET_OPERATORS) and rounds:
            sides = {"set" if _is_view(one) else _kind(one, function, project, rounds - 1) for one in (left, right)}
            return next((one for one in ("numbers", "set") if one in sides), "")
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _SET_METHODS and rounds:
            return _kind(base, function, project, rounds - 1)
        case ast.Call() if last_name(value.func) in ("set", "frozenset"):
            return "numbers" if value.args and _counts(value.args[0]) else "set"
        case ast.Name() if rounds:
            made = list(reaching_values(value, function, project)) or _of_module(value.id, function, project)
        case ast.Attribute() if rounds:
            made = project.attribute_values(value, function)
        case _:
            return ""
    kinds = {_kind(one, where, project, rounds - 1) for one, where in made}
    return "numbers" if "numbers" in kinds else "set" if kinds == {"set"} else ""


def _is_view(value: ast.expr) -> bool:
    """`state.keys()`: a view, whose difference from another one is a set."""
    return isinstance(value, ast.Call) and last_name(value.func) == "keys" and not value.args


def _counts(value: ast.expr) -> bool:
    """Whether a value gives numbers, whose sets have the same order everywhere."""
    return _is_counted(value) or (isinstance(value, ast.Call) and last_name(value.func) in _COUNTS)


def _is_counted(value: ast.expr) -> bool:
    """`{i for i in range(n)}`: a comprehension that holds what range() or enumerate() counts."""
    if not isinstance(value, (ast.SetComp, ast.ListComp, ast.GeneratorExp)):
        return False
    counters = set()
    for one in value.generators:
        named = last_name(one.iter.func) if isinstance(one.iter, ast.Call) else ""
        target = one.target.elts[0] if named == "enumerate" and isinstance(one.target, ast.Tuple) else one.target
        counters |= {ast.unparse(target)} if named in (*_COUNTS, "enumerate") else set()
    names = {one.id for one in walk(value.elt) if isinstance(one, ast.Name)}
    return bool(names) and names <= counters and not any(isinstance(one, ast.JoinedStr) for one in walk(value.elt))


def _of_set(text: str, told: str = "set({})") -> _Order:
    numbers = any(_NUMBERS.search(word) for word in re.findall(r"\w+", text))
    sure = Confidence.POSSIBLE if numbers else Confidence.LIKELY
    return _Order(f"{told.format(text)} has another order in every process where it holds no numbers", sure)


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

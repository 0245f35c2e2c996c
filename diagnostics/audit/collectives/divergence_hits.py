"""What the rules about collectives say of one parting of ranks: how sure it is, and how it is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.collectives.meant_divergence import is_made_up_for, is_meant
from diagnostics.audit.collectives.none_for_exception import given_for_an_exception, left_by_exception
from diagnostics.audit.collectives.told_by_a_file import decides_by_a_file
from diagnostics.audit.collectives.under_rank_test import left_under_rank_test
from diagnostics.audit.collectives.usual_meetings import usually_meets
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence
from diagnostics.static.dataflow.rank_predicates import ConcreteRank, RankPredicates, is_own_rank
from diagnostics.static.dataflow.taint_sources import DATA, EXCEPTION, FILES, LOSS, RANDOM, RANK, SIGNAL, TIME
from diagnostics.static.executed.reached import is_left_out, is_of_bare_model
from diagnostics.static.executed.whole_sets import asks_for_whole_sets
from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sites import CollectiveSite, SyncKind
from diagnostics.static.spmd.divergent_branch import DivergenceShape, DivergentBranch
from diagnostics.static.spmd.static_divergence import StaticDivergence

SMALL = 40  # files of a project in which a value is followed across files
MOST_CALLS = 5  # down to the operation: further down it is likely to be some other object's method
_LOCAL_DATA = ("next", "item")
# What is alike for the batches of all ranks.
_OF_ALL_BATCHES = frozenset(["shape", "ndim", "dtype", "layout"])
# What a person calls the reason why ranks can differ.
WORDS = {
    LOSS: "the rank's own loss",
    DATA: "the rank's own data",
    SIGNAL: "a signal, which ranks get at other times",
    TIME: "the rank's own clock",
    RANDOM: "the rank's own random numbers",
    EXCEPTION: "an exception on this rank",
    RANK: "the rank",
    FILES: "files that one rank may see and another not",
    "environment": "the rank's environment",
    "order": "an order that differs between processes",
}


def partings(file: ProjectFile, project: Project, *shapes: DivergenceShape) -> Iterator[DivergentBranch]:
    """Yields the partings of one file that have one of these shapes, but for those that a flag keeps from coming."""
    for one in project.fact(StaticDivergence).partings(file.shown):
        if one.shape in shapes:
            judged = one.shape not in (DivergenceShape.SKIPPED, DivergenceShape.LOOP)  # by their rules themselves
            hidden = judged and confidence(one, project) is Confidence.POSSIBLE  # what is not shown is not worth a run
            if hidden or not _is_taken_back(one, project):
                yield one


def _is_taken_back(parting: DivergentBranch, project: Project) -> bool:
    """Whether runs say otherwise: a flag is off, the model is not wrapped yet, every rank reads the data set whole."""
    here = parting.here
    bare = here.meeting is SyncKind.BACKWARD and is_of_bare_model(here.leaf[0], project)
    drawn = parting.taint.syntax if parting.taint is not None else None
    counts = parting.why == DATA and _only_counts(drawn, parting, project)
    if bare or counts or is_made_up_for(parting, project) or is_left_out(here.chain, project):
        return True
    return parting.why in (DATA, LOSS) and asks_for_whole_sets(parting.decision, project)


def operation(reach: CollectiveSite) -> str:
    """Returns how an operation is called in a sentence."""
    return reach.label or f"{reach.op}()"


def confidence(parting: DivergentBranch, project: Project) -> Confidence:
    """Returns how sure it is that ranks part, and that they meet in the operation."""
    found = _confidence(parting, project)
    if not parting.here.guessed or found is Confidence.POSSIBLE:
        return found
    # `save` may be any object's; `save_everywhere` is hardly another one's than the project's.
    return Confidence.LIKELY if "_" in parting.here.guessed.strip("_") else Confidence.POSSIBLE


def _confidence(parting: DivergentBranch, project: Project) -> Confidence:
    if parting.exit is not None and exit_calls.fails(parting.exit):
        return Confidence.POSSIBLE  # the launcher ends the others
    if parting.ranks is not None:
        if is_meant(parting, project) or _asks_for_a_mode(parting):
            return Confidence.POSSIBLE
        if parting.here.sure and _hangs_on_settings(parting, project):
            return Confidence.LIKELY if len(parting.here.chain) <= MOST_CALLS else Confidence.POSSIBLE
        if parting.here.sure:
            return Confidence.CONFIRMED
        return Confidence.LIKELY if usually_meets(parting, project) else Confidence.POSSIBLE
    if not (parting.here.sure or usually_meets(parting, project)) or not _near(parting, project):
        return Confidence.POSSIBLE
    if left_under_rank_test(parting, project):
        return Confidence.LIKELY
    if _settled(parting, project) or len(parting.here.chain) > MOST_CALLS:
        return Confidence.POSSIBLE
    if parting.why == FILES:
        return Confidence.LIKELY if decides_by_a_file(parting, project) else Confidence.POSSIBLE
    if parting.why == RANK:
        return Confidence.LIKELY if parting.here.sure and _asks_for_the_rank(parting, project) else Confidence.POSSIBLE
    if left_by_exception(parting):
        return Confidence.LIKELY
    if _asks_for_none(parting):
        given = _batches_may_be_none(project) or given_for_an_exception(parting, project)
        return Confidence.LIKELY if given else Confidence.POSSIBLE
    if parting.why in (LOSS, TIME, RANDOM, SIGNAL) or (parting.why == EXCEPTION and _is_flag(parting, project)):
        return Confidence.LIKELY
    return Confidence.LIKELY if parting.why == DATA and _is_local(parting, project) else Confidence.POSSIBLE


def _hangs_on_settings(parting: DivergentBranch, project: Project) -> bool:
    """Whether the operation is come to only under a test, in a function that is called, of which nothing is known."""
    tests = RankPredicates(project)
    rank = parting.ranks[0] if parting.ranks is not None else ConcreteRank(0)
    for call, function in parting.here.chain[1:]:
        parents = project.file_with(function).parents
        child: ast.AST = call
        while child is not function.syntax and (around := parents.get(child)) is not None:
            tested = isinstance(around, (ast.If, ast.IfExp)) and child is not around.test
            if tested and tests.truth(around.test, function, rank) is None:  # type: ignore[attr-defined]
                return True
            child = around
    return False


def _asks_for_a_mode(parting: DivergentBranch) -> bool:
    """Whether the test asks also for a parameter that is None: `group is None and rank == 0` may be for one process."""
    test = getattr(parting.decision, "test", None)
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else []
    for one in parts:
        match one:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
                if name in parting.function.parameters:
                    return True
    return False


def _near(parting: DivergentBranch, project: Project) -> bool:
    """Whether the difference comes in where the decision is: in its function, or in its class."""
    taint = parting.taint
    if taint is None:
        return False
    if taint.file != parting.function.file:
        return len(project.files) <= SMALL and taint.why in (LOSS, DATA, TIME, SIGNAL, FILES)
    if taint.function == parting.function.name or len(project.files) <= SMALL:
        return True
    return (
        "." in parting.function.name and taint.function.rpartition(".")[0] == parting.function.name.rpartition(".")[0]
    )


def _asks_for_the_rank(parting: DivergentBranch, project: Project) -> bool:
    """Whether the rank itself stands in the test: `rank in members`."""
    test = getattr(parting.decision, "test", None)
    return any(
        isinstance(node, ast.Compare)
        and is_own_rank(node.left)
        and not RankPredicates(project).same(node, parting.function)
        for node in (walk(test) if test is not None else ())
    )


def _asks_for_none(parting: DivergentBranch) -> bool:
    test = getattr(parting.decision, "test", None)
    parts = test.values if isinstance(test, ast.BoolOp) else [test]
    maybe = parting.function.assigned
    return any(
        (isinstance(one, ast.Compare) and isinstance(one.ops[0], (ast.Is, ast.IsNot)))
        or (
            isinstance(one, ast.Name)
            and any(isinstance(v, ast.Constant) and v.value is None for v in maybe.get(one.id, ()))
        )
        for one in parts
    )


def _batches_may_be_none(project: Project) -> bool:
    """Whether a collate function of the project returns None where it has no sample."""
    given = {
        node.id
        for calls in project.calls_by_name.values()
        for call, _ in calls
        for keyword in call.keywords
        if keyword.arg == "collate_fn"
        for node in walk(keyword.value)
        if isinstance(node, ast.Name)
    }
    return any(
        function.name.rpartition(".")[2] in given
        and any(isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and node.value.value is None
                for node in function.nodes_of(ast.Return))
        for function in project.functions
    )  # fmt: skip


def _settled(parting: DivergentBranch, project: Project) -> bool:
    """Whether a name in the test was last assigned something that is the same on every rank."""
    test = getattr(parting.decision, "test", None)
    taints = project.fact(StaticDivergence).taints
    for node in walk(test) if test is not None else ():
        if isinstance(node, ast.Name):
            before = [one for one in parting.function.assigned.get(node.id, ()) if one.lineno < node.lineno]
            if len(before) > 1 and taints.of(max(before, key=lambda one: one.lineno), parting.function) is None:
                return True
    return False


def _is_flag(parting: DivergentBranch, project: Project) -> bool:
    """Whether the test asks for a name that an except branch of the same function sets."""
    taint, test = parting.taint, getattr(parting.decision, "test", None)
    if taint is None or taint.function != parting.function.name or not isinstance(taint.syntax, ast.ExceptHandler):
        return False
    if taint.line > parting.line and not _in_one_loop(taint.syntax, parting, project):
        return False  # asked before
    names = {node.id for node in walk(test) if isinstance(node, ast.Name)} if test is not None else set()
    return any(isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names
               for node in walk(taint.syntax))  # fmt: skip


def _in_one_loop(node: ast.AST, parting: DivergentBranch, project: Project) -> bool:
    parents = project.file_with(parting.function).parents
    around = parents.get(node)
    while around is not None and not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(around, (ast.For, ast.While)) and any(one is parting.decision for one in walk(around)):
            return True
        around = parents.get(around)
    return False


def _is_local(parting: DivergentBranch, project: Project) -> bool:
    """Whether the data itself is asked, its items or whether any are left; not which keys a batch has."""
    taint = parting.taint
    syntax = taint.syntax if taint is not None else None
    if taint is None or isinstance(syntax, ast.Call):
        name = last_name(syntax.func) if isinstance(syntax, ast.Call) else ""
        # Gradients and their norm are the same on all ranks.
        averaged = syntax is not None and re.search(r"norm|grad", ast.unparse(syntax)) is not None
        return name in _LOCAL_DATA and not averaged and not _is_kept(syntax, parting, project)
    if not isinstance(syntax, ast.Name) or _asks_for_sizes(parting, project) or _asks_for_member(parting):
        return False
    around: ast.AST = syntax
    parents = project.by_path[taint.file].parents
    while around in parents and not isinstance(around, ast.stmt):
        around = parents[around]
        if isinstance(around, ast.Compare) and _asks_for_a_name(around):
            return False
        if isinstance(around, ast.Attribute) and around.attr in _OF_ALL_BATCHES:
            return False
    return True


def _asks_for_member(parting: DivergentBranch) -> bool:
    """Whether a test asks if something is among others, as a shape among what was compiled for shapes."""
    test = getattr(parting.decision, "test", None)
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.In, ast.NotIn))


def _asks_for_sizes(parting: DivergentBranch, project: Project) -> bool:
    """Whether a test asks for shapes alone: loaders give all ranks batches of one size, but for the last."""
    test = getattr(parting.decision, "test", None)
    taints, parents = project.fact(StaticDivergence).taints, project.file_with(parting.function).parents
    names = [one for one in (walk(test) if test is not None else ()) if isinstance(one, ast.Name)]
    asked = [parents.get(one) for one in names if taints.of(one, parting.function) is not None]
    return bool(asked) and all(isinstance(one, ast.Attribute) and one.attr in _OF_ALL_BATCHES for one in asked)


def _is_kept(syntax: ast.AST | None, parting: DivergentBranch, project: Project) -> bool:
    """Whether what is read is a number that an object keeps for itself, and nothing of a batch: `self.steps.item()`."""
    if not isinstance(syntax, ast.Call) or not isinstance(syntax.func, ast.Attribute):
        return False
    value = syntax.func.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    kept = isinstance(value, ast.Attribute) and last_name(value.value) == "self"
    return kept and project.fact(StaticDivergence).taints.of(value, parting.function) is None


def _only_counts(syntax: ast.AST | None, parting: DivergentBranch, project: Project) -> bool:
    """Whether `next` goes on with a count, `itertools.cycle(range(n))`, which ranks of one program do alike."""
    value = syntax.args[0] if isinstance(syntax, ast.Call) and syntax.args else None
    made: list[tuple[ast.expr, Function]] = []
    if isinstance(value, ast.Attribute):
        made = project.attribute_values(value, parting.function)
    elif isinstance(value, ast.Name):
        made = [(one, parting.function) for one in parting.function.assigned.get(value.id, ())]
    while made and all(isinstance(one, ast.Call) and last_name(one.func) in ("cycle", "iter") and one.args
                       for one, _ in made):  # fmt: skip
        made = [(one.args[0], where) for one, where in made if isinstance(one, ast.Call)]
    return bool(made) and all(last_name(one) in ("range", "count") and isinstance(one, ast.Call) for one, _ in made)


def _asks_for_a_name(test: ast.Compare) -> bool:
    """Whether it asks which keys a batch has: that is a matter of the data set, not of the batch."""
    texts = [one for one in test.comparators if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return bool(texts) or isinstance(test.ops[0], (ast.In, ast.NotIn))


def hit_of(
    parting: DivergentBranch,
    file: ProjectFile,
    project: Project,
    title: str,
    fix: str,
    *,
    sure: Confidence | None = None,
) -> Violation:
    """Returns a hit, with the way to the operation as its steps.

    It stands at the call where that is seen to make ranks meet, or stands under a test of the rank; else at the
    decision: there is where to look.
    """
    seen = len(parting.here.chain) == 1 or parting.ranks is not None
    shown = parting.shape in (DivergenceShape.HANDLER, DivergenceShape.FINALLY) or (
        parting.shape is DivergenceShape.ARM and seen and parting.there is None
    )
    place = parting.here.chain[0][0] if shown else parting.decision
    return violation(file, place, title, fix, steps=tuple(_steps(parting, file, project, shown=shown)),
               confidence=sure or confidence(parting, project))  # fmt: skip


def _steps(parting: DivergentBranch, file: ProjectFile, project: Project, *, shown: bool) -> Iterator[ExplanationStep]:
    taint = parting.taint
    if shown and parting.decision is not parting.here.chain[0][0]:
        yield step(file, parting.decision, "decides who comes here")
    if parting.ranks is None and taint is not None and taint.line != parting.line and taint.file in project.by_path:
        yield ExplanationStep(
            place=project.by_path[taint.file].place(taint.line), text=f"{WORDS.get(taint.why, taint.why)} comes in"
        )
    if parting.exit is not None and parting.exit.lineno != parting.line:
        yield step(file, parting.exit, "left here by some ranks")
    if not shown or len(parting.here.chain) > 1:
        yield from steps_to(parting.here, project, "")
    if parting.there is not None:
        yield from steps_to(parting.there, project, "the other ranks: ")


def steps_to(reach: CollectiveSite, project: Project, prefix: str) -> Iterator[ExplanationStep]:
    """Yields the calls that lead to an operation, and the operation."""
    for call, function in reach.chain[:-1]:
        yield step(project.file_with(function), call, f"{prefix}calls {ast.unparse(call.func)}()")
    call, function = reach.leaf
    yield step(project.file_with(function), call, f"{prefix}{operation(reach)}: every rank has to come here")

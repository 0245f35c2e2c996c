"""A callback tells the trainer of its own rank to stop, and the others go on.

What it does: flags `trainer.should_stop = True` of Lightning and `control.should_training_stop = True` (and the flags
beside it) of Transformers, set under a test of the rank or of the rank's own clock, without an agreement of the ranks.

Why it matters: each rank reads its own flag. The one that stops leaves its loop; the others go on to the next step and
wait there for its gradients until the timeout. A barrier makes ranks meet, and hands no value from one to another.

Bad:

    if trainer.is_global_zero and self.stop_was_asked_for():
        trainer.should_stop = True
    trainer.strategy.barrier()

Good:

    stop = trainer.is_global_zero and self.stop_was_asked_for()
    trainer.should_stop = trainer.strategy.reduce_boolean_decision(stop, all=False)

What it cannot see: flags set in functions that the callback calls, and metrics that differ between ranks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.own_sources import own_source
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.taint_rules import agrees
from diagnostics.static.dataflow.taint_sources import RANDOM, TIME, source_of
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.library_calls import FLAGS

CODE = "A217"
NAME = "trainer-flag-of-one-rank"
SEVERITY = Severity.ERROR
WORDS = tuple(dict.fromkeys(name for _, name in FLAGS))
CHECKLIST = "all ranks stop together"
_FROM_OUTSIDE = {TIME: "the rank's own clock", RANDOM: "the rank's own random numbers"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the flags that some ranks set for themselves."""
    for function in project.functions_in(file):
        for node in function.nodes_of(ast.Assign):
            flag = _flag(node)
            why = _why(node, function, file, project) if flag is not None else ""
            if flag is not None and why and not _agrees(function):
                yield violation(
                    file,
                    node,
                    f"{ast.unparse(flag)} is set by {why}, and each rank reads its own: those that go on wait for "
                    "the ones that stopped",
                    _fix(flag),
                    steps=tuple(step(file, one, "decides who sets it") for one in conditions(node, function, file)),
                    confidence=Confidence.LIKELY,
                )


def _flag(node: ast.AST) -> ast.Attribute | None:
    """Returns the flag that a statement raises."""
    match node:
        case ast.Assign(targets=[ast.Attribute() as target], value=ast.Constant(value=True)):
            return target if (last_name(target.value), target.attr) in FLAGS else None
    return None


def _why(node: ast.AST, function: Function, file: ProjectFile, project: Project) -> str:
    """Returns what decides who comes to a statement, "" where ranks are not seen to differ."""
    tests = RankPredicates(project)
    for test in conditions(node, function, file):
        if tests.asks(test, function) is not None:
            return "one rank"
        own = own_source(test, function, project)  # also in a method or a name that the test asks
        if own is not None:
            return _FROM_OUTSIDE[str(source_of(own[0]))]
    return ""


def _agrees(function: Function) -> bool:
    """Whether ranks tell each other something in the function."""
    return any(isinstance(one, ast.Call) and agrees(last_name(one.func)) for one in function.nodes_of(ast.Call))


def _fix(flag: ast.Attribute) -> str:
    if flag.attr == "should_stop":
        return "trainer.should_stop = trainer.strategy.reduce_boolean_decision(stop, all=False), on every rank"
    return "decide on rank 0, broadcast the decision with dist.broadcast, and set the flag on every rank"

"""Some ranks return, continue, break or exit before a collective that the others wait in.

What it does: flags `return`, `continue`, `break` and `sys.exit` under a test of the rank, of what only one rank has
seen, or of a flag that only some ranks set, where a collective, a backward of a wrapped model or a save by all ranks
comes after, in the function or in the next round of the loop.

Why it matters: skipping a bad batch by `continue` skips its backward, and with it the all-reduce of the gradients: the
other ranks wait there, or meet the next round's operation with this one's.

Bad:

    loss = model(x).mean()
    if torch.isnan(loss):
        continue
    loss.backward()

Good:

    bad = torch.isnan(loss).float()
    dist.all_reduce(bad, op=dist.ReduceOp.MAX)
    if bad:
        continue
    loss.backward()

What it cannot see: data that is bad on every rank at once. Tests whether a process group exists are not flagged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import WORDS as REASONS
from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.executed import also, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.audit.subjects import MEETINGS
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.executed.leaps import leaps_by_flag_of_one, own_leaps
from diagnostics.static.executed.training import operation as operation_of
from diagnostics.static.execution.events import Execution
from diagnostics.static.program import exit_calls
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_sequences import counts
from diagnostics.static.spmd.collective_sites import CollectiveSite, CollectiveSites
from diagnostics.static.spmd.divergent_branch import DivergenceShape, leaving

CODE = "A205"
NAME = "collective-after-early-exit"
SEVERITY = Severity.ERROR
SUBJECT = MEETINGS
CHECKLIST = "no rank leaves before a collective of the others"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests after which some ranks leave."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in own_leaps(execution):
        test, leap = one.guard, one.leap
        yield violation(
            project.file_with(leap.function),
            test.node if test.function is leap.function else leap.node,
            f"this {leap.name} depends on a number that each rank computes from its own samples, and "
            f"{operation_of(one.met) or 'the backward pass'} comes in the same loop: the ranks that stay wait for "
            "those that left",
            "let all ranks decide together (all_reduce the flag), or leave only after the last collective",
            steps=(shown(leap, project, "left here"), shown(one.met, project, "every rank has to come here")),
            confidence=Confidence.LIKELY,
        )
    for flagged in leaps_by_flag_of_one(execution):
        test, leap = flagged.guard, flagged.leap
        asked = getattr(flagged.test, "node", None)
        where = getattr(flagged.test, "function", None)
        yield violation(
            project.file_with(leap.function),
            test.node if test.function is leap.function else leap.node,
            f"this {leap.name} depends on a flag that some ranks set and do not tell the others: who stays waits in "
            f"{operation_of(flagged.met) or 'the backward pass'} for those that left",
            "hand the flag to all ranks before anyone asks it: all_reduce or broadcast; a barrier carries no value",
            steps=(
                *((step(project.file_with(where), asked, "lets some ranks alone set it"),) if asked and where else ()),
                shown(leap, project, "left here"),
                shown(flagged.met, project, "every rank has to come here"),
            ),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    if file.is_test:
        return  # what a test reads of its own logs and files is the same for its ranks
    for one in partings(file, project, DivergenceShape.EXIT):
        left = one.exit
        word = type(left).__name__.lower() if not isinstance(left, ast.Expr) else "exit"
        reason = REASONS["rank"] if one.ranks is not None else REASONS.get(one.why, one.why)
        behind = "in the next round" if one.here.chain[0][0].lineno < one.line else "after it"
        yield hit_of(
            one, file, project,
            f"this {word} depends on {reason}, and {operation(one.here)} comes {behind}: the ranks that stay wait for "
            "those that left",
            "let all ranks decide together (all_reduce the flag), or leave only after the last collective",
        )  # fmt: skip
    yield from _left_in_helper(file, project)


def _left_in_helper(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests of the rank by which a function ends the process, though its callers meet afterwards."""
    sites, tests = project.fact(CollectiveSites), RankPredicates(project)
    for function in project.functions_in(file) if file.shown in project.files else ():
        if function.name == "<module>" or sites.of_function(function) is not None:
            continue
        for node in (one for one in function.nodes_of(ast.If) if isinstance(one, ast.If)):
            left = leaving(node.body) or leaving(node.orelse)
            if not isinstance(left, ast.Expr) or exit_calls.fails(left) or tests.asks(node.test, function) is None:
                continue
            met = _met_behind(function, project)
            if met is not None:
                where = project.file_with(met.chain[0][1])
                yield violation(
                    file,
                    node,
                    f"this exit depends on the rank, and {operation(met)} comes after it: the ranks that stay wait for "
                    "those that left",
                    "let all ranks decide together (all_reduce the flag), or leave only after the last collective",
                    steps=(step(file, left, "left here by some ranks"),
                           step(where, met.chain[0][0], f"{operation(met)}: every rank has to come here")),
                    confidence=Confidence.LIKELY,
                )  # fmt: skip


def _met_behind(function: Function, project: Project) -> CollectiveSite | None:
    """Returns the first operation of all ranks behind a call of a function, in what calls it."""
    sites = project.fact(CollectiveSites)
    for call, caller in project.callers(function)[:4]:
        if is_rank_guarded(call, caller, project):
            continue
        behind = [one for one in caller.nodes_of(ast.Call) if isinstance(one, ast.Call) and one.lineno > call.lineno]
        met = (sites.of_call(one, caller) for one in sorted(behind, key=lambda one: one.lineno))
        found = next((one for one in met if one is not None and one.sure and counts(one)), None)
        if found is not None and not is_rank_guarded(found.chain[0][0], caller, project):
            return found
    return None

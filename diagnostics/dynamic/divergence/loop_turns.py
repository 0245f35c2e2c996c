"""Ranks whose loop made another number of calls in its last round than in each one before. Pure.

Stages of a pipeline exchange one message a micro-batch. Where they count the last, short batch differently, each stage
still makes calls it has always made, in the order it has always made them: what is new is how many of them there were.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import RankState
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock
from diagnostics.dynamic.divergence.branch_relation import BranchRelation, RankPartition
from diagnostics.dynamic.divergence.divergence import (
    DivergencePoint,
    DivergenceQuery,
    LoopSpan,
    PointKind,
    ProgramPoint,
    StatementKind,
)
from diagnostics.dynamic.divergence.last_common_call import counts_of, exceptions_caught
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import CollectiveCall
from diagnostics.static.dataflow.taint_sources import ENVIRONMENT, ORDER, RANK
from diagnostics.static.program.source_file import SourceFile, SourceStore

_LEAVES = (StatementKind.HANDLES, StatementKind.RAISES)
FEWEST_ROUNDS = 2  # whole ones before, all alike
Path = tuple[Frame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBreak:
    """In a loop, `now` came after `before`; in all rounds before it was `usual`."""

    loop: LoopSpan
    before: CollectiveCall
    usual: CollectiveCall
    now: CollectiveCall


def partition_by_turns(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns which ranks left a loop sooner, or stayed in it longer, than in all of their rounds before."""
    breaks = {one.rank: _break(job, one) for one in deadlock.positions}
    here = tuple(one for one in deadlock.positions if breaks[one.rank] is not None)
    there = tuple(one for one in deadlock.positions if breaks[one.rank] is None)
    found = breaks[here[0].rank] if here else None
    if found is None or not there:
        return None
    parting = DivergenceQuery(
        agreed=ProgramPoint(way=PointKind.CALL, op=found.before.op, path=found.before.path),
        here=tuple(one.rank for one in here),
        here_at=ProgramPoint(way=PointKind.CALL, op=found.now.op, path=found.now.path),
        there=tuple(one.rank for one in there),
        there_at=ProgramPoint(way=PointKind.CALL, op=found.usual.op, path=found.usual.path),
        caught=exceptions_caught(job, here[0], here[0].at_s),
        loop=found.loop,
    )
    return RankPartition(parting=parting, relation=BranchRelation.APART, here=here, there=there, sure=True)


def _break(job: Job, one: RankState) -> TurnBreak | None:
    counts, wait = counts_of(job, one), one.wait
    if counts is None or wait is None or len(one.waits) != 1:
        return None
    calls = [call for call in counts.calls if call.thread == counts.calls[-1].thread]
    if not calls or calls[-1].path != wait.path:
        return None
    # The ring may have forgotten the beginning of the first round.
    rounds = [list(each) for _, each in groupby(calls, key=lambda call: _loop_of(job, call.path))][1:]
    return unlike_rounds([(_loop_of(job, each[0].path), each) for each in rounds])


def unlike_rounds(rounds: Sequence[tuple[tuple[LoopSpan, Path] | None, Sequence[CollectiveCall]]]) -> TurnBreak | None:
    """Returns how the last rounds of a rank, oldest first, differ in number from all before; None where they do not.

    A round is what a rank called in one loop without a call elsewhere between. The last one is still going on.
    """
    if len(rounds) < FEWEST_ROUNDS + 2:
        return None
    for last, (loop, made) in ((len(rounds) - 1, rounds[-1]), (len(rounds) - 2, rounds[-2])):
        before = [(at, each) for at, (key, each) in enumerate(rounds[:last]) if key == loop]
        lengths = {len(each) for _, each in before}
        if loop is None or len(before) < FEWEST_ROUNDS or len(lengths) != 1:
            continue
        (length,) = lengths
        at, whole = before[-1]
        if len(made) > length:
            return TurnBreak(loop=loop[0], before=made[length - 1], usual=rounds[at + 1][1][0], now=made[length])
        if len(made) < length and last < len(rounds) - 1:
            return TurnBreak(loop=loop[0], before=made[-1], usual=whole[len(made)], now=rounds[last + 1][1][0])
    return None


def _loop_of(job: Job, path: Path) -> tuple[LoopSpan, Path] | None:
    """Returns the innermost loop around a call, or around what made it, with the way to there."""
    for depth, frame in enumerate(path):
        span = _span(job.sources.file(frame.file), frame)
        if span is not None:
            return span, path[depth + 1 :]
    return None


def _span(source: SourceFile, frame: Frame) -> LoopSpan | None:
    function = source.function_at(frame.line)
    first = function.lineno if function is not None else 0
    loops = [
        node
        for node in source.all_statements
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        and first <= node.lineno
        and node.body[0].lineno <= frame.line <= (node.end_lineno or node.lineno)
    ]
    if not loops:
        return None
    inner = max(loops, key=lambda node: node.lineno)
    return LoopSpan(file=frame.file, first=inner.lineno, last=inner.end_lineno or inner.lineno)


def may_end_a_round(loop: LoopSpan, point: DivergencePoint) -> bool:
    """Whether a statement is in the body of a loop, and may have decided otherwise in one of its rounds.

    What follows from the rank alone is the same in all of them.
    """
    inside = point.frame.file == loop.file and loop.first < point.frame.line <= loop.last
    return inside and (point.kind in _LEAVES or point.tainted_by not in ("", RANK, ENVIRONMENT, ORDER))


def loop_lines(sources: SourceStore, loop: LoopSpan) -> Iterator[DivergencePoint]:
    """Yields the head of a loop, and the lines before it in its function that work out how often it runs."""
    source = sources.file(loop.file)
    head, function = source.statement_at(loop.first), source.function_at(loop.first)
    bound = getattr(head, "iter", None) or getattr(head, "test", None)
    names = {node.id for node in ast.walk(bound) if isinstance(node, ast.Name)} if bound is not None else set()
    first = function.lineno if function is not None else 0
    counted = [
        node.lineno
        for node in source.all_statements
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        and first <= node.lineno < loop.first
        and names & {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    ]
    for line in (loop.first, *sorted(counted, reverse=True)):
        yield DivergencePoint(
            kind=StatementKind.LOOP if line == loop.first else StatementKind.CALLS,
            frame=Frame(file=loop.file, line=line, function=function.name if function is not None else "<module>"),
            text=source.lines[line - 1].strip(),
        )

"""What a deadlock means: class, culprits, the line that decided, and the lines where the ranks stand. Pure."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct
from diagnostics.dynamic.collectives.hang_time import hang_time
from diagnostics.dynamic.collectives.rank_state import OperationKind, RankState, Whereabouts
from diagnostics.dynamic.collectives.rank_state_builder import positions_of
from diagnostics.dynamic.collectives.thread_order import by_thread_order, waits_of_threads
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock, DeadlockKind, find_deadlock
from diagnostics.dynamic.divergence.branch_relation import BranchRelation, RankPartition
from diagnostics.dynamic.divergence.divergence import DivergencePoint, PointKind, StatementKind
from diagnostics.dynamic.divergence.held_exceptions import held_by
from diagnostics.dynamic.divergence.localisation import divergence_points, is_unique
from diagnostics.dynamic.divergence.named_rank import named_rank
from diagnostics.dynamic.divergence.out_of_place import OutOfPlace, WhyOutOfPlace, out_of_place
from diagnostics.dynamic.divergence.rank_partition import as_they_met, is_recurrent, partitions, user_stack
from diagnostics.dynamic.divergence.same_turn import without_whole_loops
from diagnostics.dynamic.job.job import ExceptionRecord, Job
from diagnostics.dynamic.job.process_queries import user_frames_of
from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.taint_sources import EXCEPTION, ORDER, RANK

MISMATCH, MISSING, PEERS = "collective-mismatch", "collective-missing", "p2p-deadlock"
MOST_LINES = 8
LONGEST_MESSAGE_S = 10.0  # in which no record of any rank moved: one that was under way has come by then
_JUMPS = (StatementKind.RETURNS, StatementKind.SKIPS, StatementKind.LEAVES_LOOP, StatementKind.RAISES)
_LIBRARY = re.compile(r"/(?:site|dist)-packages/(?!torch/)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockDiagnosis:
    """A deadlock and what can be said of it; it is proved where it is not `presumed`."""

    deadlock: Deadlock
    failure_class: str
    culprits: tuple[int, ...]
    decisions: tuple[DivergencePoint, ...]
    decided: tuple[str, ...]  # their lines
    certain: bool  # the first of `decisions` is the only one that counts
    locations: tuple[str, ...]
    splits: tuple[RankPartition, ...]
    met: tuple[RankState, ...] = ()  # in the calls that met and did not fit, where ranks went through them
    held: tuple[tuple[RankState, ExceptionRecord], ...] = ()  # ranks that wait with an exception on its way out
    by_threads: bool = False  # all wait in the same calls, which threads of theirs made in different orders
    out_of_place: OutOfPlace | None = None  # what is wrong with the call that is the first of `decisions`


_latest: list[tuple[Job, DeadlockDiagnosis | None]] = []  # several signatures ask about one job, one after the other


def deadlock_diagnosis(job: Job) -> DeadlockDiagnosis | None:
    """Returns the deadlock in which the job hung, None where there is none.

    Where none can be proved since messages may be under way, one of ranks that stood still with those is presumed.
    """
    if not _latest or _latest[0][0] is not job:
        _latest[:] = [(job, _process(job))]
    return _latest[0][1]


def _process(job: Job) -> DeadlockDiagnosis | None:
    at_s = hang_time(job)
    positions = positions_of(job, at_s) if at_s is not None else ()
    deadlock = find_deadlock(positions)
    if deadlock is None and at_s is not None and not job.facts.proved:
        presumed = find_deadlock(positions, presumed=True)
        deadlock = presumed if presumed is not None and at_s - presumed.began_s > LONGEST_MESSAGE_S else None
    return diagnose(job, deadlock, positions) if deadlock is not None else None


def diagnose(job: Job, deadlock: Deadlock, positions: Sequence[RankState] = ()) -> DeadlockDiagnosis:
    """Returns what can be said of these ranks, each in an operation in which it does not get what it needs.

    `positions` are those of all ranks, also of such that went through what others wait in.
    """
    waited, deadlock = deadlock, as_they_met(deadlock)
    threads = by_thread_order(job, waited)
    # Which thread comes first is no way that a rank goes, and two that meet have not parted.
    found = () if threads or unlike_halves(deadlock) else partitions(job, deadlock, positions)
    said = [_decisions(job, split, deadlock) for split in found]
    all_of_it = (*deadlock.positions, *deadlock.gone)
    held = tuple((one, raised) for one in all_of_it if (raised := held_by(job, one)) is not None)
    lines = (
        *(_line(job, raised.user_path[0], StatementKind.RAISES) for _, raised in held),
        *(one for each in said[:2] for one in each),
    )
    found_out = None if held else out_of_place(job, deadlock.positions)
    told = (*((_line(job, found_out.frame, StatementKind.CALLS),) if found_out is not None else ()), *lines)
    # Where each rank takes the items of a set in an order of its own, none went another way than it should.
    ordered = bool(lines) and lines[0].tainted_by == ORDER and lines[0].kind is StatementKind.LOOP
    ranks = tuple(one.rank for one in deadlock.positions)
    by_design = found_out is not None and found_out.why is WhyOutOfPlace.NOT_SHADOWED  # that they parted
    stands = [job.line(frame) for one in (*deadlock.positions, *deadlock.gone) for frame in user_stack(job, one)[:1]]
    stands += [job.line(frame) for one in deadlock.positions for _, frame in waits_of_threads(job, one)]
    apart = [one for split in found for one in split.here] if not threads else deadlock.positions
    odd = [job.line(frame) for one in apart for frame in user_stack(job, one)[:2]]
    return DeadlockDiagnosis(
        deadlock=waited,
        met=deadlock.positions if deadlock is not waited else (),
        failure_class=MISSING if held else MISMATCH if ordered else _class(job, deadlock, found, lines),
        culprits=tuple(one.rank for one, _ in held)
        or (found_out.ranks if found_out is not None else ())
        or (ranks if ordered or by_design else _culprits(job, deadlock, found, lines)),
        decisions=told,
        decided=tuple(job.line(one.frame) for one in told),
        certain=bool(held) or (bool(said) and is_unique(said[0]) and len(found) == 1 and found_out is None),
        locations=_ordered(job, deadlock, [job.line(one.frame) for one in told], [*odd, *stands]),
        splits=found,
        held=held,
        by_threads=threads,
        out_of_place=found_out,
    )


def _decisions(job: Job, split: RankPartition, deadlock: Deadlock) -> tuple[DivergencePoint, ...]:
    """Returns where the ways can part, best first, without loops that all are in the same turn of."""
    sides = (_made_by_all(job, split.parting.here), _made_by_all(job, split.parting.there))
    points = divergence_points(job.sources, replace(split.parting, made=sides), job.agent_folders)
    waiting = {one.rank: one.wait.path for one in deadlock.positions if one.wait is not None}
    here = [path for rank, path in waiting.items() if rank in split.parting.here]
    there = [path for rank, path in waiting.items() if rank not in split.parting.here]
    return without_whole_loops(job.sources, points, here, there) or points


def _made_by_all(job: Job, ranks: Sequence[int]) -> frozenset[Frame]:
    """Returns the lines of the program from which each of some ranks has made a call, on whatever way."""
    of_each = [
        frozenset(
            replace(frame, span=None)
            for call in process.agent.collectives
            for frame in user_frames_of(process, call.path)
        )
        for process in job.ranks
        if process.rank in ranks and process.agent is not None
    ]
    return frozenset.intersection(*of_each) if of_each else frozenset()


def _line(job: Job, frame: Frame, kind: StatementKind) -> DivergencePoint:
    text = job.sources.file(frame.file).lines[frame.line - 1 : frame.line]
    shown = text[0].strip() if text else ""
    raises = kind is StatementKind.RAISES
    return DivergencePoint(kind=kind, frame=frame, text=shown, tainted_by=EXCEPTION if raises else "", observed=raises)


def _class(job: Job, deadlock: Deadlock, found: Sequence[RankPartition], lines: Sequence[DivergencePoint]) -> str:
    if deadlock.knot is DeadlockKind.PEERS or any(_is_peer(one) for one in deadlock.positions):
        gone = _turned_away(job, found[0], lines) if len(found) == 1 and lines else ()
        by_others = [one for one in deadlock.positions if one.rank not in gone]
        passed_by = bool(gone) and not any(map(_is_peer, by_others))  # a collective, on the way to a message
        return MISSING if passed_by else PEERS
    if deadlock.knot in (DeadlockKind.GONE, DeadlockKind.NEW_GROUP, DeadlockKind.STORE):
        return MISSING
    if not found:
        return MISMATCH
    if any(split.parting.here_at.way is PointKind.ENDED for split in found):
        return MISSING
    alike = (BranchRelation.SAME, BranchRelation.ARMS)
    return MISMATCH if all(split.relation in alike and not _in_library(split) for split in found) else MISSING


def _in_library(split: RankPartition) -> bool:
    """Whether one line of the project led to two places of a library: a call there was made by some ranks only."""
    ways = (split.parting.here_at.path, split.parting.there_at.path)
    lines = [[(f.file, f.line) for f in way if _LIBRARY.search(f.file)] for way in ways]
    return split.relation is BranchRelation.SAME and bool(lines[0] and lines[1]) and lines[0] != lines[1]


def _is_peer(one: RankState) -> bool:
    return one.wait is not None and one.wait.kind in (OperationKind.SEND, OperationKind.RECV)


def _ordered(job: Job, deadlock: Deadlock, decided: Sequence[str], stands: Sequence[str]) -> tuple[str, ...]:
    """Returns the lines, best first. In a circle of sends and receives their order is the fault, not a decision."""
    first = [*stands, *decided] if _is_circle(job, deadlock) else [*decided, *stands]
    return distinct(first)[:MOST_LINES]


def _is_circle(job: Job, deadlock: Deadlock) -> bool:
    """Whether sends and receives stand in an order that can never work; where it did before, it is not the order."""
    if unlike_halves(deadlock):
        return True
    waits = [wait for one in deadlock.positions for wait in one.waits]
    if deadlock.knot is not DeadlockKind.PEERS or any(wait.asynchronous for wait in waits):
        return False
    return not all(is_recurrent(job, one) for one in deadlock.positions)


def unlike_halves(deadlock: Deadlock) -> bool:
    """Whether all wait in a send and a receive that are for each other: only tag, type or size can differ."""
    at = {one.rank: one.wait for one in deadlock.positions if _is_peer(one)}
    return deadlock.presumed and all(
        (wait := at.get(one.rank)) is not None
        and wait.root is not None
        and (peer := at.get(wait.root)) is not None
        and peer.root == one.rank
        and peer.kind is not wait.kind
        for one in deadlock.positions
    )


def _culprits(
    job: Job, deadlock: Deadlock, found: Sequence[RankPartition], lines: Sequence[DivergencePoint]
) -> tuple[int, ...]:
    """Returns the ranks that went another way where that can be told, else all of the deadlock."""
    if _is_circle(job, deadlock):
        return deadlock.ranks
    sure = {rank for split in found if split.sure for rank in split.parting.here}
    if len(found) == 1 and lines and (lines[0].by_size or not found[0].by_history):
        alike = len(found[0].here) == len(found[0].there)
        by_rank = _has_its_own(job, found[0], lines) or (_let_in(job, found[0], lines) if alike else ())
        sure = set(_turned_away(job, found[0], lines) or by_rank) or sure
    if not sure and len(found) == 1 and lines and _tells_apart(found[0], lines[0]):
        sure = set(_odd_by(job, found[0], lines[0]))
    left = {one.rank for one in deadlock.gone if one.stand is not Whereabouts.WAITING}
    return tuple(sorted(sure or left or deadlock.ranks))


def _has_its_own(job: Job, split: RankPartition, lines: Sequence[DivergencePoint]) -> tuple[int, ...]:
    """Returns the rank to which the loop that parts them, or the line its bound comes from, gives something else."""
    first = lines[0]
    origin = (one for one in lines[1:] if one.tainted_by == RANK and one.score == first.score - 1)
    for one in (first, *origin) if first.kind is StatementKind.LOOP and first.tainted_by == RANK else ():
        named = named_rank(job, one)
        if named is not None and (named,) in (split.parting.here, split.parting.there):
            return (named,)
    return ()


def _tells_apart(split: RankPartition, decision: DivergencePoint) -> bool:
    """Whether the statement may tell which camp it let in: also where one line called the functions of both."""
    if decision.kind is StatementKind.LOOP or split.relation is BranchRelation.APART:
        return True
    return (
        split.relation is BranchRelation.SAME and decision.kind is StatementKind.BRANCH and decision.tainted_by == RANK
    )


def _entered(split: RankPartition, decision: DivergencePoint, first: int, last: int) -> tuple[int, ...]:
    """Returns the ranks that went into a handler or a guard that jumps away; by rank, those that went on alone."""
    ways = (decision.here_line, decision.there_line)
    inside = [way is not None and way.file == decision.frame.file and first < way.line <= last for way in ways]
    if decision.kind is StatementKind.HANDLES:
        inside = [way == decision.frame for way in ways]
    if decision.kind not in (StatementKind.BRANCH, StatementKind.HANDLES) or inside[0] == inside[1]:
        return ()
    return split.parting.here if inside[0] != (decision.tainted_by == RANK) else split.parting.there


def _turned_away(job: Job, split: RankPartition, lines: Sequence[DivergencePoint]) -> tuple[int, ...]:
    """Returns the ranks for which a guard jumped away because of what they have; () where the first line is no guard.

    Where they stand later says less: the others are then within a branch, as all were meant to be.
    """
    first = lines[0]
    guard = job.sources.file(first.frame.file).statement_at(first.frame.line)
    why = first.tainted_by or ("size" if first.by_size else "")
    if guard is None or first.kind is not StatementKind.BRANCH or why in ("", RANK):
        return ()
    last = guard.end_lineno or guard.lineno
    inside = [one for one in lines if one.frame.file == first.frame.file and guard.lineno < one.frame.line <= last]
    if not any(one.kind in _JUMPS for one in inside):
        return ()
    return _entered(split, first, guard.lineno, last)


def _let_in(job: Job, split: RankPartition, lines: Sequence[DivergencePoint]) -> tuple[int, ...]:
    """Returns the ranks that a test of the rank let in, and that wait there; () where the first lines hold none.

    The first line may be the decorator that puts the test around a function.
    """
    for decision in itertools.takewhile(lambda one: one.tainted_by == RANK, lines):
        if split.by_history or decision.kind is not StatementKind.BRANCH:
            return ()
        guard = job.sources.file(decision.frame.file).statement_at(decision.frame.line)
        if not isinstance(guard, ast.If):
            continue
        # The test may read what was set from the rank elsewhere: that line stands beside the decision, one point below.
        told = [one.text for one in lines if one.tainted_by == RANK and one.score == decision.score - 1]
        if not any(rank_words.SHOWS_RANK.search(text) for text in (ast.unparse(guard.test), *told)):
            continue
        body = range(guard.body[0].lineno, (guard.body[-1].end_lineno or guard.body[-1].lineno) + 1)
        inside = [
            any(frame.file == decision.frame.file and frame.line in body for frame in user_stack(job, camp[0]))
            for camp in (split.here, split.there)
        ]
        return () if inside[0] == inside[1] else split.parting.here if inside[0] else split.parting.there
    return ()


def _odd_by(job: Job, split: RankPartition, decision: DivergencePoint) -> tuple[int, ...]:
    """Returns the ranks that left a loop in which the others still are, or went into a branch; () where unknown."""
    source = job.sources.file(decision.frame.file)
    jumps = decision.kind in (StatementKind.RETURNS, StatementKind.EXITS, StatementKind.RAISES)
    around = source.function_at(decision.frame.line) if jumps else source.statement_at(decision.frame.line)
    if around is None:
        return ()
    first, last = around.lineno, around.end_lineno or around.lineno
    inside = [
        any(frame.file == decision.frame.file and first <= frame.line <= last for frame in user_stack(job, camp[0]))
        for camp in (split.here, split.there)
    ]
    if inside[0] == inside[1]:
        return _entered(split, decision, first, last)
    entered = decision.kind in (StatementKind.BRANCH, StatementKind.HANDLES, StatementKind.CALLS)
    return split.parting.here if inside[0] == entered else split.parting.there

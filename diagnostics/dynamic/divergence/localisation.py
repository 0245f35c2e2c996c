"""Which line decided that one rank went another way than the others: from a Parting to its Decisions. Pure.

Both ways start after the call on which the ranks last agreed. A statement decides where the shortest way to the one
place and the shortest way to the other leave it by different edges, and no operation of the group lies between.

Which statement led one rank to where it stands while the others went on to wait for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.callback_causes import callback_causes
from diagnostics.dynamic.divergence.candidates import Branching, candidates_of, decision
from diagnostics.dynamic.divergence.divergence import (
    DivergencePoint,
    DivergenceQuery,
    PointKind,
    ProgramPoint,
    StatementKind,
)
from diagnostics.dynamic.divergence.indirect_causes import graph_causes, indirect_causes, library_call
from diagnostics.dynamic.divergence.loop_turns import loop_lines, may_end_a_round
from diagnostics.dynamic.divergence.path_search import FAR, PathSearch
from diagnostics.dynamic.divergence.same_site import dispatch_causes, same_site_causes, unlike_arguments
from diagnostics.dynamic.divergence.search_states import SearchTarget, State
from diagnostics.dynamic.divergence.skipped_iterations import skipped_iterations
from diagnostics.dynamic.divergence.stack_alignment import Stack, align, own_files
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import EXCEPTION, Taint
from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.exception_flow import catching, with_around
from diagnostics.static.program.source_file import SourceStore

_SURE = 10  # least score of a decision that is worth a line

MOST_DECISIONS = 12
CERTAIN_LEAD = 25  # points between the first and what else might have decided
SURE = 15  # least score of a decision that may be called certain
_MOST_SCORE = 150
_FOLLOWS = {
    StatementKind.LEAVES_LOOP,
    StatementKind.SKIPS,
    StatementKind.RETURNS,
    StatementKind.EXITS,
    StatementKind.RAISES,
    StatementKind.CALLS,
}


def divergence_points(
    sources: SourceStore, parting: DivergenceQuery, agent_folders: Collection[str] = ()
) -> tuple[DivergencePoint, ...]:
    """Returns the statements at which the ways of the ranks can part, best first; () where nothing can be said."""
    found = _all_points(sources, parting, agent_folders)
    if parting.loop is None:
        return found
    inside = [replace(one, score=_unsure(one.score)) for one in found if may_end_a_round(parting.loop, one)]
    return (*inside, *loop_lines(sources, parting.loop))[:MOST_DECISIONS]


def _all_points(
    sources: SourceStore, parting: DivergenceQuery, agent_folders: Collection[str]
) -> tuple[DivergencePoint, ...]:
    paths = [place.path for place in (parting.agreed, parting.here_at, parting.there_at) if place is not None]
    program = CallGraph(sources, own_files([*paths, *parting.caught], agent_folders))
    here, there = _goal(parting.here_at, program), _goal(parting.there_at, program)
    if here is None or there is None or (here.is_end and there.is_end):
        return ()
    taints = RankTaint(program)
    by_library = [replace(one, score=_unsure(one.score)) for one in callback_causes(here, there, taints)]
    if here.stack.lines == there.stack.lines:
        differs = unlike_arguments(parting.here_at, parting.there_at)
        alike = [one for one in same_site_causes(here, taints, differs) if not by_library]
        return _best_first([*by_library, *alike], here) if by_library else tuple(alike)[:MOST_DECISIONS]
    thrown = _thrown(parting, there, program)
    if thrown:
        return thrown
    start = align(parting.agreed.path, program) if parting.agreed is not None else None
    op = parting.agreed.op if parting.agreed is not None else ""
    caught = frozenset((program.file_of(frame.file), frame.line) for path in parting.caught for frame in path)
    made = tuple(frozenset((program.file_of(one.file), one.line) for one in side) for side in parting.made)
    for begin, blocked in ((start, True), (start, False), (None, False)):
        walk = PathSearch(program, begin, op, (here, there), caught, blocked, made)
        if all(walk.reached):
            found = _direct(walk, taints)
            if by_library and all(one.kind is StatementKind.CALLS for one in found):
                found = []  # only that one rank came out of the library and the other did not
            if found:
                found += [*indirect_causes(here, there, taints, start), *_raising(found, parting, program)]
                found += dispatch_causes(here, there, taints)
                earlier = (
                    list(skipped_iterations(start, taints, made)) if start is not None and not _explains(found) else []
                )
                graphs = list(graph_causes(here, there, taints))
                found += graphs
                if earlier or graphs or not blocked:
                    found = [replace(one, score=_unsure(one.score)) for one in (*found, *earlier)]
                return _best_first(found, here)
    return _best_first([*by_library, *indirect_causes(here, there, taints, start)], here)


def is_unique(found: tuple[DivergencePoint, ...]) -> bool:
    """Whether the first decision is the only one, or leads clearly: then it may be called confirmed."""
    if not found or found[0].score < SURE:
        return False
    first = found[0]
    if first.observed:
        return not any(one.observed and not _belongs(first, one) for one in found[1:])
    others = [one for one in found[1:] if one.kind not in _FOLLOWS and one.score > 0 and not _belongs(first, one)]
    if not others:
        return True
    return bool(first.tainted_by) and first.score - others[0].score >= CERTAIN_LEAD


def _explains(found: list[DivergencePoint]) -> bool:
    """Whether any of the statements depends on what can differ between ranks."""
    return any(one.tainted_by for one in found)


def _unsure(score: int) -> int:
    """Returns a score of the same order that is never enough to be certain."""
    return min(score, _MOST_SCORE) * (SURE - 1) // _MOST_SCORE


def _belongs(first: DivergencePoint, other: DivergencePoint) -> bool:
    """Whether another line is only a further place of the first decision."""
    return other.score == first.score - 1


def _goal(place: ProgramPoint, program: CallGraph) -> SearchTarget | None:
    stack = align(place.path, program)
    if not stack.levels:
        return SearchTarget(Stack(())) if place.way is PointKind.ENDED else None
    return SearchTarget(stack, place.op)


def _direct(walk: PathSearch, taints: RankTaint) -> list[DivergencePoint]:
    here, there = (walk.distances_to(reached) for reached in walk.reached)
    return [one for candidate in _candidates(walk, here, there) for one in candidates_of(candidate, walk, taints)]


def _thrown(parting: DivergenceQuery, there: SearchTarget, program: CallGraph) -> tuple[DivergencePoint, ...]:
    """Returns the handler of what the very call raised in which the others wait, and that call; () for no such."""
    stood = [(level.function, level.line) for level in reversed(there.stack.levels)]
    for path in reversed(parting.caught):
        way = [(function, frame.line) for frame in path if (function := program.function_of(frame)) is not None]
        if not way or stood[: len(way)] != way:
            continue
        (function, line), (origin, raised) = way[-1], way[0]
        block = catching(function.source, line)
        handler = block.handlers[0] if block is not None and block.handlers else with_around(function.source, line)
        if handler is not None:
            taint = Taint(EXCEPTION, function.file, handler.lineno, function.name)
            return (
                decision(function, handler.lineno, StatementKind.HANDLES, taint, _MOST_SCORE),
                decision(origin, raised, StatementKind.RAISES, taint, _MOST_SCORE - 1),
            )
    return ()


def _raising(found: list[DivergencePoint], parting: DivergenceQuery, program: CallGraph) -> Iterator[DivergencePoint]:
    """Yields where the exceptions were raised that handlers among `found` caught, for the likeliest one."""
    handlers = [one for one in found if one.kind is StatementKind.HANDLES]
    score = max((one.score for one in handlers), default=0) - 1
    for path in parting.caught[-1:] if handlers else ():
        own = [(function, frame) for frame in path if (function := program.function_of(frame)) is not None]
        taint = Taint(EXCEPTION, "", 0, "")
        for function, frame in dict.fromkeys((*own[:1], *own[-1:])):
            yield decision(function, frame.line, StatementKind.RAISES, taint, score)


def _best_first(found: list[DivergencePoint], here: SearchTarget) -> tuple[DivergencePoint, ...]:
    """Returns each line once, best first, and the call that hid the operation after the first."""
    best: dict[tuple[str, int], DivergencePoint] = {}
    for one in found:
        key = (one.frame.file, one.frame.line)
        if key not in best or one.score > best[key].score:
            best[key] = one
    ordered = sorted(best.values(), key=lambda one: -one.score)
    hidden = library_call(here, ordered[0]) if ordered else ()
    ordered[1:1] = [one for one in hidden if (one.frame.file, one.frame.line) not in best]
    return tuple(ordered[:MOST_DECISIONS])


def _candidates(walk: PathSearch, here: dict[State, int], there: dict[State, int]) -> Iterator[Branching]:
    for state, ways in walk.edges.items():
        if len(ways) < 2:
            continue
        to_here = {number: here[to] + cost for number, (_, cost, to) in enumerate(ways) if to in here}
        to_there = {number: there[to] + cost for number, (_, cost, to) in enumerate(ways) if to in there}
        if not to_here or not to_there:
            continue
        parted = _parted(to_here, to_there)
        if parted is None:
            continue
        goes_here, goes_there = parted
        strength = (goes_there not in to_here) + (goes_here not in to_there)
        yield Branching(
            state=state,
            here=ways[goes_here],
            there=ways[goes_there],
            strength=strength,
            start=walk.distance.get(state, FAR),
            way_here=tuple(_way(walk, ways[goes_here][2], here)),
            way_there=tuple(_way(walk, ways[goes_there][2], there)),
        )


def _parted(here: dict[int, int], there: dict[int, int]) -> tuple[int, int] | None:
    """Returns by which edges the ways part, of their costs by edge; None where they need not part here.

    An edge that leads to one place only decides. Where all lead to both, the shortest ways must differ.
    """
    only_here, only_there = here.keys() - there.keys(), there.keys() - here.keys()
    if only_here or only_there:
        goes_here = min(only_here or here.keys() - only_there, key=lambda n: here[n])
        others = only_there or there.keys() - {goes_here}
        if not only_here:
            goes_there = min(only_there, key=lambda n: there[n])
            return goes_here, goes_there
        return (goes_here, min(others, key=lambda n: there[n])) if others else None
    goes_here, goes_there = min(here, key=lambda n: here[n]), min(there, key=lambda n: there[n])
    if goes_here == goes_there or here[goes_here] >= here[goes_there] or there[goes_there] >= there[goes_here]:
        return None
    return goes_here, goes_there


def _way(walk: PathSearch, state: State, distance: dict[State, int]) -> Iterator[State]:
    """Yields the states of the shortest way to a goal."""
    for _ in range(2000):
        yield state
        nearer = [(distance[to] + cost, to) for _, cost, to in walk.edges.get(state, ()) if to in distance]
        if not nearer or distance[state] == 0:
            return
        state = min(nearer, key=lambda one: one[0])[1]


def explain_detour(
    job: Job, process: JobProcess, stack: Sequence[Frame], peer: JobProcess, waits_at: Sequence[Frame]
) -> DivergencePoint | None:
    """Returns the branch, loop or handler at which a rank left its peer's way; None where nothing stands out."""
    if process.rank is None or peer.rank is None or not stack or not waits_at:
        return None
    last = process.agent.collectives[-1:] if process.agent is not None else ()
    op = peer.agent.collectives[-1].op if peer.agent is not None and peer.agent.collectives else ""
    parting = DivergenceQuery(
        agreed=ProgramPoint(way=PointKind.CALL, op=last[0].op, path=last[0].path) if last else None,
        here=(process.rank,),
        here_at=ProgramPoint(way=PointKind.STANDS, path=_with_values(process, stack)),
        there=(peer.rank,),
        there_at=ProgramPoint(way=PointKind.CALL, op=op, path=_with_values(peer, waits_at)),
    )
    try:
        found = divergence_points(job.sources, parting, job.agent_folders)
    except Exception:  # the decision is an extra line; what the rank waits for is the answer
        return None
    chosen = [one for one in found if one.kind is not StatementKind.CALLS and one.score >= _SURE]
    return chosen[0] if chosen else None


def _with_values(process: JobProcess, path: Sequence[Frame]) -> tuple[Frame, ...]:
    return process.threads.with_values(path) if process.threads is not None else tuple(path)

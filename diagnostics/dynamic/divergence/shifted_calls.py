"""Ranks that met in one operation from different places: since then one of them is a call ahead, unnoticed. Pure.

Two barriers fit together wherever they stand in the program. The ranks go on, shifted by one call, until two calls meet
that do not fit; the first meeting from different places is where they parted, however long ago that was.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.collective_log import CollectiveLog
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP, is_collective
from diagnostics.dynamic.collectives.rank_state import RankState
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock
from diagnostics.dynamic.divergence.branch_relation import RankPartition, relate
from diagnostics.dynamic.divergence.divergence import DivergenceQuery, PointKind, ProgramPoint
from diagnostics.dynamic.divergence.last_common_call import counts_of, exceptions_caught
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import CollectiveCall

MOST_COMPARED = 64  # ranks
Lines = tuple[tuple[str, int], ...]
Meeting = tuple[CollectiveCall, CollectiveCall]


def shifted(job: Job, deadlock: Deadlock) -> RankPartition | None:
    """Returns which rank made a call that it never made before, and that others answered from elsewhere."""
    known = [(one, counts) for one in deadlock.positions if (counts := counts_of(job, one)) is not None]
    for other, theirs in known[1:MOST_COMPARED]:
        one, mine = known[0]
        meetings = _meetings(mine, theirs)
        first = _first_shifted(job, one, other, meetings)
        if first:
            return _split(job, deadlock, one, other, meetings[:first])
    return None


def _meetings(mine: CollectiveLog, theirs: CollectiveLog) -> list[Meeting]:
    """Returns the operations that both ranks have been through, oldest first."""
    found = []
    for call in mine.calls:
        partner = theirs.call(call.group, call.number) if call.number >= 0 else None
        if partner is None or call.left_s is None or partner.left_s is None or call.failed or partner.failed:
            continue
        if is_collective(call.op) and call.op != NEW_GROUP:
            found.append((call, partner))
    return found


def _first_shifted(job: Job, one: RankState, other: RankState, meetings: Sequence[Meeting]) -> int:
    """Returns how many meetings there were up to the first from different places since which all were; 0 for none."""
    places = [(_lines(job, one, mine), _lines(job, other, theirs)) for mine, theirs in meetings]
    first = len(places)
    while first and places[first - 1][0] != places[first - 1][1] and places[first - 1] not in places[: first - 1]:
        first -= 1
    return first + 1 if 0 < first < len(places) else 0


def _split(
    job: Job, deadlock: Deadlock, one: RankState, other: RankState, meetings: Sequence[Meeting]
) -> RankPartition | None:
    """Returns the parting at the last of these meetings, None where no rank's call there is new to it alone."""
    *earlier, (mine, theirs) = meetings
    new = (
        _lines(job, one, mine) not in {_lines(job, one, call) for call, _ in earlier},
        _lines(job, other, theirs) not in {_lines(job, other, call) for _, call in earlier},
    )
    if new[0] == new[1]:
        return None
    odd, usual = (one, other) if new[0] else (other, one)
    here, there = (mine, theirs) if new[0] else (theirs, mine)
    agreed = earlier[-1][0 if new[0] else 1]
    camps = [
        tuple(state for state in deadlock.positions if state is chosen or _went_with(job, state, call))
        for chosen, call in ((odd, here), (usual, there))
    ]
    parting = DivergenceQuery(
        agreed=ProgramPoint(way=PointKind.CALL, op=agreed.op, path=agreed.path),
        here=tuple(state.rank for state in camps[0]),
        here_at=ProgramPoint(way=PointKind.CALL, op=here.op, path=here.path),
        there=tuple(state.rank for state in camps[1]),
        there_at=ProgramPoint(way=PointKind.CALL, op=there.op, path=there.path),
        caught=exceptions_caught(job, odd, odd.at_s),
    )
    found = relate(job.sources, _own(job, odd, here), _own(job, usual, there))
    return RankPartition(parting=parting, relation=found, here=camps[0], there=camps[1], sure=True)


def _went_with(job: Job, one: RankState, call: CollectiveCall) -> bool:
    """Whether a rank made its call in that operation from the same place."""
    counts = counts_of(job, one)
    own = counts.call(call.group, call.number) if counts is not None else None
    return own is not None and _lines(job, one, own) == tuple(
        (frame.file, frame.line) for frame in _own(job, one, call)
    )


def _own(job: Job, one: RankState, call: CollectiveCall) -> tuple[Frame, ...]:
    process = job.of_rank(one.rank)
    return tuple(user_frames(call.path, agent_folder=process.agent_folder if process is not None else ""))


def _lines(job: Job, one: RankState, call: CollectiveCall) -> Lines:
    return tuple((frame.file, frame.line) for frame in _own(job, one, call))

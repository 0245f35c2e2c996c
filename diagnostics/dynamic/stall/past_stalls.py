"""Says where the ranks stood in a time without progress that came to an end. Pure."""

from __future__ import annotations

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import Stand
from diagnostics.dynamic.collectives.rank_state_builder import positions_of
from diagnostics.dynamic.job.job import Case
from diagnostics.record.supervisor_facts import Stall


def past_stalls(case: Case) -> list[str]:
    """Returns one note for each stall that is over: from when to when, and which rank stood at which line."""
    return [
        f"no progress from {stall.began_s:.0f} s to {stall.over_s:.0f} s, then it went on{_where(case, stall)}"
        for stall in case.job.stalls
        if stall.over_s is not None
    ]


def _where(case: Case, stall: Stall) -> str:
    """Returns ": rank 1 stood at train.py:31, the others waited"; "" where nobody was seen outside of any wait."""
    outside = {one.rank for one in positions_of(case, stall.seen_s) if one.stand is Stand.OUTSIDE}
    lines: dict[str, list[int]] = {}
    for rank in sorted(outside):
        frame = _line(case, rank, stall)
        if frame is not None:
            lines.setdefault(case.line(frame), []).append(rank)
    if not lines:
        return ""
    who = [
        f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))} stood at {line}"
        for line, ranks in lines.items()
    ]
    return ": " + ", ".join(who) + (", while others waited" if len(outside) < len(case.ranks) else "")


def _line(case: Case, rank: int, stall: Stall) -> Frame | None:
    """Returns the innermost line of the user's that this rank was seen at most often."""
    story = case.of_rank(rank)
    if story is None or stall.over_s is None:
        return None
    folder = story.agent.agent_folder if story.agent is not None else ""
    seen = [sample for sample in story.samples if stall.began_s <= sample.at_s <= stall.over_s and sample.stack]
    frames = [user[0] for sample in seen if (user := user_frames(sample.stack, agent_folder=folder))]
    return max(frames, key=frames.count, default=None)

"""Which statement led one rank to where it stands while the others went on to wait for it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.divergence import Decides, Decision, Parting, Place, Way
from diagnostics.dynamic.divergence.localisation import decisions
from diagnostics.dynamic.job.job import Case, ProcessStory

_SURE = 10  # least score of a decision that is worth a line


def led_there(
    case: Case, story: ProcessStory, stack: Sequence[Frame], peer: ProcessStory, waits_at: Sequence[Frame]
) -> Decision | None:
    """Returns the branch, loop or handler at which a rank left its peer's way; None where nothing stands out."""
    if story.rank is None or peer.rank is None or not stack or not waits_at:
        return None
    last = story.agent.collectives[-1:] if story.agent is not None else ()
    op = peer.agent.collectives[-1].op if peer.agent is not None and peer.agent.collectives else ""
    parting = Parting(
        agreed=Place(way=Way.CALL, op=last[0].op, path=last[0].path) if last else None,
        here=(story.rank,),
        here_at=Place(way=Way.STANDS, path=tuple(stack)),
        there=(peer.rank,),
        there_at=Place(way=Way.CALL, op=op, path=tuple(waits_at)),
    )
    try:
        found = decisions(case.sources, parting, case.agent_folders)
    except Exception:  # the decision is an extra line; what the rank waits for is the answer
        return None
    chosen = [one for one in found if one.kind is not Decides.CALLS and one.score >= _SURE]
    return chosen[0] if chosen else None

"""Which ranks of a job failed by their own doing, and which only lost their peers. Pure.

No majority votes: two ranks are enough. What counts is who ended a rank, what it complained about, and in which order.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence

from diagnostics.analysis.case import How, Part, ProcessStory
from diagnostics.analysis.job_answers import last_lines
from diagnostics.analysis.rank_ends import LOST_PEER, SEARCHED_LINES

ENDED_BY_OTHERS = ("doctor", "launcher")
_ENDING = (How.UNCAUGHT, How.SPAWN, How.OUTPUT)


def blame(stories: Sequence[ProcessStory]) -> tuple[tuple[ProcessStory, ...], tuple[ProcessStory, ...]]:
    """Returns (culprits, victims) among the ranks in `stories`."""
    ranks = [story for story in stories if story.part is Part.RANK and not _superseded(story, stories)]
    culprits = _culprits(ranks)
    chosen = {id(story) for story in culprits}
    victims = [story for story in ranks if story.failed and id(story) not in chosen]
    return tuple(culprits), tuple(victims) if culprits else ()


def lost_peer(story: ProcessStory) -> bool:
    """Whether all that it complained about is a peer that went away or never answered.

    Such a rank may still abort: its interpreter shuts down while threads of the process group live.
    """
    if story.end.signal not in (None, signal.SIGABRT):
        return False
    said = [one for one in story.raised if one.how in _ENDING]
    if said:
        return all(LOST_PEER.search(one.text) for one in said)
    return bool(LOST_PEER.search(last_lines(story.stderr, SEARCHED_LINES)))


def waits_in_a_collective(story: ProcessStory) -> bool:
    """Whether its last collective had not returned when its file was last written."""
    calls = story.agent.collectives if story.agent is not None else ()
    return bool(calls) and calls[-1].left_s is None


def _culprits(ranks: Sequence[ProcessStory]) -> list[ProcessStory]:
    failed = [story for story in ranks if story.failed]
    own = [story for story in failed if story.ended_by not in ENDED_BY_OTHERS]
    acted = [story for story in own if not lost_peer(story)]
    if acted:
        return _first_of_chain(acted)
    if own:
        return _left_early(ranks, own) or _laggards(failed) or own
    return []


def _first_of_chain(acted: Sequence[ProcessStory]) -> list[ProcessStory]:
    """Returns those that acted; one whose interpreter aborted after losing a peer is none of them."""
    return list(acted)


def _left_early(ranks: Sequence[ProcessStory], lost: Sequence[ProcessStory]) -> list[ProcessStory]:
    """Returns the ranks that ended well before the others lost them: a return or exit on some ranks only."""
    first = min((story.end.at_s for story in lost if story.end.at_s is not None), default=None)
    if first is None:
        return []
    ended = [story for story in ranks if not story.failed and story.end.exit_code == 0 and story.end.at_s is not None]
    return [story for story in ended if story.end.at_s is not None and story.end.at_s <= first]


def _laggards(failed: Sequence[ProcessStory]) -> list[ProcessStory]:
    """Returns the ranks that others waited for in vain: ended by their launcher while in no collective."""
    ended = [story for story in failed if story.ended_by == "launcher" and story.agent is not None]
    return [story for story in ended if not waits_in_a_collective(story)]


def _superseded(story: ProcessStory, stories: Sequence[ProcessStory]) -> bool:
    """Whether the same program was started again as the same rank."""
    return any(
        other.rank == story.rank
        and other.part is Part.RANK
        and other.restart > story.restart
        and other.argv == story.argv
        for other in stories
    )

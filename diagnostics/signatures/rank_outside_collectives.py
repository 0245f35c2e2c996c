"""One rank stands somewhere else while the others wait for it.

What it does: where a job made no progress until it was ended, names the ranks whose main thread was in no collective,
and the line of the job's code at which they stood, while every other rank waited in torch.distributed or in backward.

Why it matters: the timeout of a process group blames the rank that waited. The one that matters said nothing: it
sleeps, loops, waits for a lock, a file, a queue or a child. One look cannot tell for ever from slow: this is a guess.

Fix: look at what the line waits for, and whether every rank reaches it.
"""

from __future__ import annotations

from diagnostics.analysis.agent_facts import Frame
from diagnostics.analysis.blame import distinct, named, path_evidence, sentence, stood_still
from diagnostics.analysis.case import Case, ProcessStory
from diagnostics.analysis.rank_blame import waits_in_a_collective
from diagnostics.analysis.rank_ends import WAITING_IN
from diagnostics.analysis.user_code import user_frames
from diagnostics.findings import Confidence, Evidence, Fix
from diagnostics.matches import Examines, JobOutcome, Match
from diagnostics.signatures.blamed import blamed

CODE = "D320"
NAME = "rank-outside-collectives"
CLASS = "rank-stalled"
EXAMINES = Examines.ANY


def match(case: Case) -> Match | None:
    """Returns the ranks the others waited for, None where the stacks do not tell them apart."""
    stall = next((stall for stall in reversed(case.job.stalls) if stall.over_s is None), None)
    if stall is None or not stood_still(case) or len(case.ranks) < 2 or any(not story.stacks for story in case.ranks):
        return None
    away = [story for story in case.ranks if not _waits(story)]
    if not away or len(away) == len(case.ranks):
        return None
    lines = distinct([case.line(frame) for story in away for frame in _own(story)[:1]])
    if not lines:
        return None
    waiting = [story for story in case.ranks if story not in away]
    waited = distinct([case.line(frame) for story in waiting for frame in _own(story)[:1]])
    return blamed(
        case,
        away,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(named(away))} stood at {', '.join(lines)} and came no further, while {named(waiting)} "
        f"waited at {', '.join(waited) or 'a collective'}",
        evidence=(
            Evidence(source="record/job.json: stalls", observed=f"no progress from {stall.began_s:.1f} s on"),
            *(one for story in away for one in path_evidence(case, f"stack of {named([story])}", story.stacks[0])),
            *(
                one
                for story in waiting[:1]
                for one in path_evidence(case, f"stack of {named([story])}", story.stacks[0])
            ),
        ),
        fix=Fix(text=f"look at what {lines[0]} waits for, and whether every rank reaches it"),
        locations=[*lines, *waited],
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        began_s=stall.began_s,
    )


def _stack(case: Case, story: ProcessStory) -> tuple[Evidence, ...]:
    return path_evidence(case, f"stack of {named([story])}", story.stacks[0])


def _waits(story: ProcessStory) -> bool:
    """Whether its main thread is inside torch.distributed, or in a backward pass that may reduce gradients."""
    return waits_in_a_collective(story) or any(WAITING_IN.search(frame.file) for frame in story.stacks[0])


def _own(story: ProcessStory) -> tuple[Frame, ...]:
    folder = story.agent.agent_folder if story.agent is not None else ""
    return user_frames(story.stacks[0], agent_folder=folder)

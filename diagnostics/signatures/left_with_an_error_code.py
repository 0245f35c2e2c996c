"""A process ended itself with an error code.

What it does: names the line that called `sys.exit` or `os._exit` with a code other than 0 in a rank that no exception
ended, and the exception that the program logged or printed just before, if there was one.

Why it matters: launchers only repeat the code; the line that chose it, and what it had caught, stand nowhere.

Fix: what the program complained about before it left; let the exception go on instead of ending the process.
"""

from __future__ import annotations

from diagnostics.analysis.agent_facts import Event, Frame
from diagnostics.analysis.blame import (
    distinct,
    end_evidence,
    ended_s,
    named,
    output_evidence,
    path_evidence,
    rank_numbers,
    sentence,
    source_evidence,
    to_blame,
)
from diagnostics.analysis.case import Case, How, ProcessStory, Raised
from diagnostics.analysis.failure_origin import origin
from diagnostics.analysis.job_answers import last_line
from diagnostics.analysis.user_code import user_frames
from diagnostics.findings import Confidence, Finding, Fix, Severity
from diagnostics.matches import Examines, JobOutcome, Match

CODE = "D290"
NAME = "left-with-an-error-code"
CLASS = "python-exception"
EXAMINES = Examines.FAILED
JUST_BEFORE_S = 5.0
_SHOWN = (How.LOGGED, How.PRINTED, How.CAUGHT, How.SPAWN, How.WORKER, How.THREAD)


def match(case: Case) -> Match | None:
    """Returns the first process at fault that chose its own error code."""
    for story in to_blame(case):
        left = _left(story)
        if left is not None and origin(case, story) is None:
            return _match(case, story, left)
    return None


def _left(story: ProcessStory) -> Event | None:
    if story.agent is None or story.end.exit_code in (0, None):
        return None
    event = story.agent.last_event("sys.exit", "os._exit")
    chose = event is not None and (event.value != 0 or event.text not in ("", "NoneType"))
    return event if chose else None


def _match(case: Case, story: ProcessStory, left: Event) -> Match:
    folder = story.agent.agent_folder if story.agent is not None else ""
    exit_path = user_frames(left.path, agent_folder=folder)
    caught = _just_before(story, left)
    frames: tuple[Frame, ...] = caught.user_path if caught is not None else ()
    locations = distinct([*(case.line(frame) for frame in frames[:1]), *(case.line(frame) for frame in exit_path[:2])])
    exit_line = case.line(exit_path[0]) if exit_path else ""
    said = caught.text if caught is not None else last_line(story.stderr)
    where = f" at {exit_line}" if exit_line else ""
    after = f", after: {said[:300]}" if said else ""
    shown = (*frames[:1], *exit_path[:1])
    return Match(
        finding=Finding(
            code=CODE,
            name=NAME,
            severity=Severity.ERROR,
            title=f"{sentence(named([story]))} called {left.kind} with code {story.end.exit_code}{where}{after}",
            where=", ".join(filter(None, (named([story]), locations[0] if locations else ""))),
            evidence=(
                end_evidence(story),
                *(one for frame in shown for one in source_evidence(case, frame)),
                *path_evidence(case, f"{left.kind} in process {story.pid}", exit_path),
                *output_evidence(story),
            ),
            fix=Fix(
                text=f"see to what it complained about, and let the exception go on instead of {left.kind}{where}"
                if caught is not None
                else f"see why the program reached{where or ' that line'} and what it wrote before"
            ),
            confidence=Confidence.LIKELY,
        ),
        failure_class=CLASS,
        outcome=JobOutcome.CRASH,
        culprit_ranks=rank_numbers([story]),
        locations=locations,
        explains=(story.pid,),
        began_s=ended_s(story),
        generic=True,
    )


def _just_before(story: ProcessStory, left: Event) -> Raised | None:
    """Returns the exception that the program had in hand when it left."""
    before = [one for one in story.raised if one.how in _SHOWN and 0 < one.sequence < left.sequence]
    at_s = ended_s(story)
    return before[-1] if before and at_s - before[-1].at_s < JUST_BEFORE_S else None

"""A rank failed, and what started it said 0.

What it does: where the job's exit code is 0 though a rank or a training process failed, names the line that failed and
the one that hid it: `|| true`, a pipe without pipefail, `wait` for background jobs or `exit 0` in a script,
subprocess.run without check, a Process whose exitcode nobody read.

Why it matters: a scheduler counts the run as done.

Bad:

    torchrun train.py | tee train.log

Good:

    set -euo pipefail
    torchrun train.py | tee train.log
"""

from __future__ import annotations

from diagnostics.analysis.agent_facts import Frame
from diagnostics.analysis.blame import (
    distinct,
    end_evidence,
    ended_s,
    how_it_ended,
    interrupted_s,
    module_of,
    named,
    path_evidence,
    program,
    sentence,
    source_evidence,
)
from diagnostics.analysis.case import Case, Part, ProcessStory
from diagnostics.analysis.failure_origin import locations_of, origin
from diagnostics.analysis.hiding_scripts import hiding_script_lines
from diagnostics.analysis.native_crash import native_crash
from diagnostics.analysis.process_tree import words
from diagnostics.analysis.teardown import is_teardown
from diagnostics.analysis.user_code import user_frames
from diagnostics.findings import Confidence, Evidence, Fix
from diagnostics.matches import Examines, JobOutcome, Match
from diagnostics.signatures.blamed import blamed

CODE = "D402"
NAME = "failure-hidden-by-parent"
CLASS = "masked-exit"
EXAMINES = Examines.SUCCEEDED


def match(case: Case) -> Match | None:
    """Returns the first rank that failed in a job that says 0."""
    failed = [
        story
        for story in case.processes
        if _counts(case, story) and not _made_good(case, story) and not _is_an_answer(case, story)
    ]
    blamed_first = [story for story in failed if story.pid in {one.pid for one in case.culprits}] or failed
    if not blamed_first:
        return None
    first = min(blamed_first, key=ended_s)
    error = origin(case, first)
    if error is not None:
        failing, frame, why = locations_of(case, error), error.frame, error.root_text[:300]
    else:
        crash = native_crash(first)
        frames = crash.frames or _exit_frames(first)
        failing = distinct([case.line(one) for one in frames[:2]])
        frame, why = (frames[0] if frames else None), how_it_ended(first)
    parent, hiding, how = _hiding(case, first)
    locations = distinct([*failing[:1], *hiding, *failing[1:]])
    alike = [story for story in blamed_first if _same_end(case, first, story)]
    at = f" at {failing[0]}" if failing else ""
    by = f" at {hiding[0]}" if hiding else ""
    return blamed(
        case,
        alike,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(named(alike))} failed{at} ({why}), and {parent} hid it{by}: the job says 0",
        evidence=[
            end_evidence(first),
            Evidence(source="the job", observed="exit code 0", expected="the code of what failed"),
            *(path_evidence(case, why, error.frames) if error is not None else ()),
            *(source_evidence(case, frame) if frame is not None else ()),
        ],
        fix=Fix(text=f"correct {failing[0] if failing else 'what failed'}; {how}{by}"),
        locations=locations,
        module=module_of(first),
        confidence=Confidence.CONFIRMED if locations else Confidence.LIKELY,
        outcome=JobOutcome.CRASH,
        explains=[story.pid for story in failed],
        began_s=ended_s(first),
    )


def _counts(case: Case, story: ProcessStory) -> bool:
    """Whether a process is one whose failure costs work: a rank, no helper; ended by nobody, and before its work."""
    if story.part not in (Part.RANK, Part.LAUNCHER) or not story.failed or ended_s(story) >= interrupted_s(case):
        return False
    if story.ended_by not in ("", "unknown") or is_teardown(case, story):
        return False
    return _trains(story) or not any(
        one.steps and one.end.exit_code == 0 and program(one) != program(story) for one in case.ranks
    )


def _trains(story: ProcessStory) -> bool:
    """Whether a process got as far as an optimizer: a check that fails before the training is there to fail."""
    return story.steps > 0 or (story.agent is not None and story.agent.last_event("optimizer", "ddp") is not None)


def _is_an_answer(case: Case, story: ProcessStory) -> bool:
    """Whether its code is one that it chose, without any exception, for a Python parent that may well read it."""
    parent = case.of_pid(story.parent_pid)
    told = parent is not None and parent.agent is not None
    return told and story.end.signal is None and origin(case, story) is None


def _made_good(case: Case, story: ProcessStory) -> bool:
    """Whether the same program ran again to a good end: a retry, an elastic restart, a smaller batch."""
    again = [
        one
        for one in case.processes
        if one.began_s > story.began_s
        and one.end.exit_code == 0
        and one.part is story.part
        and one.rank == story.rank
        and program(one) == program(story)
        and (story.end.at_s is None or one.began_s >= story.end.at_s - 1.0)
    ]
    return bool(again)


def _same_end(case: Case, one: ProcessStory, other: ProcessStory) -> bool:
    errors = origin(case, one), origin(case, other)
    return one.end.signal == other.end.signal and (errors[0] and errors[0].frame) == (errors[1] and errors[1].frame)


def _exit_frames(story: ProcessStory) -> tuple[Frame, ...]:
    event = story.agent.last_event("sys.exit", "os._exit") if story.agent is not None else None
    return user_frames(event.path, agent_folder=story.agent.agent_folder) if event and story.agent else ()


def _hiding(case: Case, story: ProcessStory) -> tuple[str, tuple[str, ...], str]:
    """Returns who hid the failure, the lines at which, and what to do there."""
    script = hiding_script_lines(case, story)
    if script:
        return "the script", script, "begin the script with `set -euo pipefail`, and let nothing swallow the code"
    above: ProcessStory | None = story
    for _ in range(len(case.processes)):
        below = above
        above = case.of_pid(above.parent_pid) if above is not None else None
        if above is None or below is None:
            break
        if above.failed or above.agent is None:
            continue
        started = [
            event
            for event in above.agent.events
            if event.kind == "child" and words(event.text).get("pid") == str(below.pid)
        ]
        frames = user_frames(started[-1].path, agent_folder=above.agent.agent_folder) if started else ()
        popen = bool(started) and words(started[-1].text).get("how") == "popen"
        advice = "use subprocess.run(..., check=True)" if popen else "read exitcode after join() and pass it on"
        return f"its parent ({program(above)})", distinct([case.line(one) for one in frames[:1]]), advice
    return "what started it", (), "pass the exit code on"

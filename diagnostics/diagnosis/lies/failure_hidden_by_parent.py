"""A rank failed, and what started it said 0.

What it does: where the job's exit code is 0 though a rank or a training process failed, and it can be seen that
nothing was done about that, names the line that failed and the one that dropped it: `|| true`, a pipe without pipefail,
`wait` for background jobs or `exit 0` in a script, a code that a Python parent never read or only showed, a handler
that only prints. A failure on which a parent decided something, that a script tested, a test expected or a later run
made good is a note beside the verdict.

Why it matters: a scheduler counts the run as done.

Bad:

    torchrun train.py | tee train.log

Good:

    set -euo pipefail
    torchrun train.py | tee train.log
"""

from __future__ import annotations

from dataclasses import replace

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.exit_status.failure_handling import FailureFate, failure_fates
from diagnostics.dynamic.failures.native_crash import native_crash
from diagnostics.dynamic.failures.root_exception import advice, locations_of, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    how_it_ended,
    module_of,
    names_of,
    path_evidence,
    source_evidence,
)
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.static.launch_files.status_flow import Fate

CODE = "D402"
NAME = "failure-hidden-by-parent"
CLASS = "masked-exit"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the first rank that failed in a job that says 0, where nobody looked."""
    dropped = [one for one in failure_fates(job) if one.fate is Fate.DROPPED]
    by_culprits = [one for one in dropped if one.process.pid in {culprit.pid for culprit in job.culprits}] or dropped
    if not by_culprits:
        return None
    fate = min(by_culprits, key=lambda one: ended_s(one.process))
    first = fate.process
    error = root_exception(job, first)
    if error is not None:
        failing, frame, why = locations_of(job, error), error.frame, error.root_text[:300]
    else:
        crash = native_crash(first)
        frames = crash.frames or _exit_frames(first)
        failing = distinct([job.line(one) for one in frames[:2]])
        frame, why = (frames[0] if frames else None), how_it_ended(first)
    locations = distinct([*failing[:1], *fate.places, *failing[1:]])
    alike = [one.process for one in by_culprits if _same_end(job, first, one.process)]
    at = f" at {failing[0]}" if failing else ""
    by = f" at {fate.places[0]}" if fate.places else ""
    change = advice(error.root_text, failing[0], module_of(first)) if error is not None and failing else ""
    change = change or f"correct {failing[0] if failing else 'what failed'}"
    hidden_by, unhide = f"{fate.who} hid it{by}: the job says 0", f"{fate.advice}{by}"
    found = blamed(
        job,
        alike,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(alike))} failed{at} ({why}), and {hidden_by}",
        evidence=[
            end_evidence(first),
            Evidence(source="the job", observed="exit code 0", expected="the code of what failed"),
            _dropping(fate),
            *(path_evidence(job, why, error.frames) if error is not None else ()),
            *(source_evidence(job, frame) if frame is not None else ()),
        ],
        fix=Fix(text=f"{change}; {unhide}"),
        locations=locations,
        module=module_of(first),
        confidence=Confidence.CONFIRMED if locations else Confidence.LIKELY,
        outcome=JobOutcome.CRASH,
        explains=[one.process.pid for one in dropped],
        began_s=ended_s(first),
    )
    return replace(found, hidden_by=hidden_by, unhide=unhide)


def _dropping(fate: FailureFate) -> Evidence:
    return Evidence(source=", ".join(fate.places) or fate.who, observed=fate.how, expected="its code is looked at")


def _same_end(job: Job, one: JobProcess, other: JobProcess) -> bool:
    errors = root_exception(job, one), root_exception(job, other)
    return one.end.signal == other.end.signal and (errors[0] and errors[0].frame) == (errors[1] and errors[1].frame)


def _exit_frames(process: JobProcess) -> tuple[Frame, ...]:
    event = process.agent.last_event("sys.exit", "os._exit") if process.agent is not None else None
    return user_frames(event.path, agent_folder=process.agent.agent_folder) if event and process.agent else ()

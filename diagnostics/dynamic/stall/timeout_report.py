"""What a report says about a timeout that fired while a rank was missing: title, proof, lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence
from diagnostics.dynamic.divergence.localisation import explain_detour
from diagnostics.dynamic.job.evidence import names_of, path_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.stall.stall_evidence import looks_evidence
from diagnostics.dynamic.stall.timeouts import AbsentRank, TimedOut
from diagnostics.dynamic.stall.wait_cause import WaitKind, advice

SHOWN = 2  # ranks that were missing
DEEP = 2  # calls inside of each other


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutReport:
    """The parts of a finding about `late` ranks."""

    title: str
    evidence: tuple[Evidence, ...]
    locations: tuple[str, ...]
    fix: Fix
    confidence: Confidence


def timeout_report(job: Job, timeout: TimedOut, late: Sequence[AbsentRank], *, stuck: bool) -> TimeoutReport:
    """Returns what to say about the late ranks; `stuck`: they would not have come."""
    first, waiter = late[0], timeout.gave_up[0]
    does = [job.line(frame) for one in late for frame in _lines(one)]
    called = [] if stuck else [job.line(frame) for one in late for frame in _call_beside(one, waiter.path)]
    lines = distinct([*called, *does])
    waited = distinct([job.line(one.path[0]) for one in timeout.gave_up if one.path])
    decision = explain_detour(job, first.process, first.stack, waiter.process, waiter.path)
    led = [job.line(decision.frame)] if decision is not None else []
    others = [job.line(frame) for frame in (first.reason.frames[:2] if first.reason is not None else ())]
    who, they = names_of([one.process for one in late]), names_of([one.process for one in timeout.gave_up])
    place = f" at {lines[0]}" if lines else ""
    place += f", in {does[0]}" if called and does and does[0] != lines[0] else ""
    did = f"it {first.reason.text}" if first.reason is not None else "it came too late to be looked at"
    came = f", and came {first.came_s - waiter.at_s:.1f} s too late" if first.came_s is not None else ""
    waits = f" at {waited[0]}" if waited else ""
    end = "stood" if stuck else "was"
    return TimeoutReport(
        title=f"{sentence(they)} gave up waiting{waits} when the timeout fired; {who} {end}{place}: {did}{came}",
        evidence=(
            Evidence(
                source=f"{names_of([waiter.process])}, {waiter.at_s:.1f} s after the start",
                observed=" ".join(waiter.text.split())[:300],
            ),
            *(one for missing in late[:SHOWN] for one in _proof(job, missing, waiter.at_s)),
            *path_evidence(job, f"{names_of([waiter.process])} waited", waiter.path),
        ),
        locations=distinct([*lines, *led, *others, *waited]),
        fix=Fix(text=_fix(first, lines, stuck=stuck)),
        confidence=_confidence(late, stuck=stuck),
    )


def _lines(late: AbsentRank) -> Sequence[Frame]:
    """Returns the line to look at: where it was, else what it came to when it was too late."""
    if late.reason is not None and late.reason.frame is not None:
        return (late.reason.frame,)
    return (late.came_to or late.left_at)[:1]


def _call_beside(late: AbsentRank, waited: Sequence[Frame]) -> Sequence[Frame]:
    """Returns the call of a late rank that is in the innermost function in which its peer waits as well.

    Only where the rank computes, some calls further inside: the line that a look finds there is left to chance.
    """
    if late.reason is None or late.reason.kind not in (WaitKind.LOOP, WaitKind.NATIVE):
        return []
    known = {(frame.file, frame.function) for frame in waited}
    own = user_frames(late.stack, agent_folder=late.process.agent_folder)
    return [one for depth, one in enumerate(own) if (one.file, one.function) in known and depth >= DEEP][:1]


def _proof(job: Job, late: AbsentRank, fired_s: float) -> tuple[Evidence, ...]:
    who = names_of([late.process])
    seen = f"last seen at work {fired_s - late.left_s:.1f} s before the timeout fired"
    if late.left_at:
        seen += f", at {job.line(late.left_at[0])}"
    if late.came_s is not None:
        seen += f"; came {late.came_s - fired_s:.1f} s after it"
    return (
        Evidence(source=f"record of {who}", observed=seen),
        *path_evidence(job, f"stack of {who}", late.stack),
        *(looks_evidence(job, late.process, who) if late.stack else ()),
    )


def _fix(late: AbsentRank, lines: Sequence[str], *, stuck: bool) -> str:
    if stuck:
        return advice(late.reason, lines[0] if lines else "")
    what = (
        f"what {names_of([late.process])} does at {lines[0]}"
        if lines
        else f"what {names_of([late.process])} does alone"
    )
    return (
        f"let all ranks wait for {what} with a timeout that is long enough (init_process_group(timeout=...), or a "
        "group of its own for that barrier), or make it shorter than the timeout"
    )


def _confidence(late: Sequence[AbsentRank], *, stuck: bool) -> Confidence:
    """What came after all was late for sure; else one look cannot tell slow from stuck."""
    if stuck:
        proved = all(one.reason is not None and one.reason.proof for one in late)
        return Confidence.CONFIRMED if proved else Confidence.LIKELY
    seen = all(one.came_s is not None and one.reason is not None for one in late)
    return Confidence.CONFIRMED if seen else Confidence.LIKELY if late[0].reason is not None else Confidence.POSSIBLE

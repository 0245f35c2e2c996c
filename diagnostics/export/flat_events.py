"""The events of one lane as a flat list: what each format writes in its own words. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from diagnostics.core.job_trace import CallSpan, JobTrace, Lane, StepSpan

STEPS, CALLS, EVENTS = "steps", "collectives", "events"
Value = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackSpan:
    """Something that took time. `inside` is the number of the step whose phase it is, -1 elsewhere."""

    track: str
    name: str
    kind: str  # step | phase | collective | call
    began_s: float
    ended_s: float
    finished: bool = True
    meeting: str = ""  # the same of all ranks that made this collective together
    facts: Mapping[str, Value] = field(default_factory=dict)
    inside: int = -1


def spans_of(trace: JobTrace, lane: Lane) -> Iterator[TrackSpan]:
    """Yields steps with their phases behind them, then calls."""
    for step in lane.steps:
        yield from _of_step(step)
    until = lane.ended_s if lane.ended_s is not None else trace.until_s
    busy: list[float] = []  # until when each track of calls is taken: threads make calls side by side
    for call in lane.calls:
        span = _of_call(call, until)
        free = next((place for place, ended_s in enumerate(busy) if ended_s <= span.began_s), len(busy))
        busy[free:] = [span.ended_s, *busy[free + 1 :]]
        yield span if not free else replace(span, track=f"{CALLS} {free + 1}")


def _of_step(step: StepSpan) -> Iterator[TrackSpan]:
    yield TrackSpan(
        track=STEPS, name=f"step {step.number}", kind="step", began_s=step.began_s, ended_s=step.ended_s,
        facts={"step": step.number, **{f"{name}_s": seconds for name, seconds in step.phases}},
    )  # fmt: skip
    at_s = step.began_s
    for name, seconds in step.phases:  # how long each took is measured; that they followed in this order is not
        ended_s = min(at_s + seconds, step.ended_s)
        yield TrackSpan(
            track=STEPS, name=name, kind="phase", began_s=at_s, ended_s=ended_s, facts={"total_s": seconds},
            inside=step.number,
        )  # fmt: skip
        at_s = ended_s


def _of_call(call: CallSpan, until_s: float) -> TrackSpan:
    facts: dict[str, Value] = {"group": call.group, "number": call.number}
    facts |= {name: value for name, value in (("shape", call.shape), ("dtype", call.dtype)) if value}
    if call.root is not None:
        facts["root"] = call.root
    facts |= {name: True for name, so in (("asynchronous", call.asynchronous), ("failed", call.failed)) if so}
    if call.stack:
        facts["stack"] = " <- ".join(call.stack)
    return TrackSpan(
        track=CALLS,
        name=call.shown,
        kind="collective" if call.matched else "call",
        began_s=call.began_s,
        ended_s=max(call.began_s, until_s if call.ended_s is None else call.ended_s),
        finished=call.ended_s is not None,
        meeting=call.meeting,
        facts=facts,
    )


def tracks_of(trace: JobTrace, lane: Lane) -> list[str]:
    """Returns the names of the tracks that the lane needs, in order."""
    return list(dict.fromkeys([STEPS, CALLS, *(span.track for span in spans_of(trace, lane)), EVENTS]))


def nanoseconds(seconds: float) -> int:
    """Returns a time as a whole number, never below 0: what began before the job's clock stands at its start."""
    return max(0, round(seconds * 1e9))

"""The ranks of a recorded run, as they stood at its end. Pure."""

from __future__ import annotations

from diagnostics.core.job_trace import JobTrace, Lane
from diagnostics.top.standing import Standing

RECENT = 32  # steps


def standings_of(trace: JobTrace) -> list[Standing]:
    """Returns where each rank stood."""
    return [_standing(trace, lane) for lane in trace.lanes]


def _standing(trace: JobTrace, lane: Lane) -> Standing:
    call = lane.calls[-1] if lane.calls else None
    matched = [one for one in lane.calls if one.matched]
    last = matched[-1] if matched else None
    until_s = lane.ended_s if lane.ended_s is not None else trace.until_s
    steps = lane.steps[-RECENT:]
    whole = sum(step.ended_s - step.began_s for step in steps)
    waits = call is not None and call.ended_s is None
    same = call is last or not waits
    return Standing(
        rank=lane.rank,
        pid=lane.pid,
        step=lane.step_count or None,
        steps_per_s=len(steps) / whole if whole else None,
        data_share=sum(dict(step.phases).get("data", 0.0) for step in steps) / whole if whole else None,
        cpu_share=_cpu_share(lane),
        memory_bytes=next((one.memory_bytes for one in reversed(lane.usage) if one.memory_bytes is not None), None),
        module=lane.module,
        call=call.shown if call is not None else "",
        group=last.group if last is not None else "",
        members=lane.groups.get(last.group, ()) if last is not None else (),
        number=last.number if last is not None and same else -1,
        inside_s=max(0.0, until_s - call.began_s) if call is not None and waits else None,
        ended="" if waits else lane.end,
    )


def _cpu_share(lane: Lane) -> float | None:
    looks = [(one.at_s, one.cpu_s) for one in lane.usage if one.cpu_s is not None]
    if len(looks) < 2 or looks[-1][0] <= looks[0][0]:
        return None
    return (looks[-1][1] - looks[0][1]) / (looks[-1][0] - looks[0][0])

"""The JSON of Chrome's trace viewer: a process a rank, and arrows where ranks met.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from diagnostics.core.job_trace import JobTrace, Lane
from diagnostics.export.flat_events import EVENTS, spans_of, tracks_of

FORMAT = "chrome"
HELP = "JSON of Chrome's trace viewer: trace-chrome.json"
OPENS = "chrome://tracing, or https://ui.perfetto.dev"


def files(trace: JobTrace) -> dict[str, bytes]:
    """Returns the one file."""
    events = [event for lane in trace.lanes for event in _of_lane(trace, lane)]
    events += _meetings(trace)
    body = {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"command": trace.command}}
    return {"trace-chrome.json": (json.dumps(body, separators=(",", ":")) + "\n").encode()}


def _of_lane(trace: JobTrace, lane: Lane) -> Iterator[dict[str, Any]]:
    name = f"rank {lane.rank}" + (f" ({lane.role})" if lane.role else "")
    yield {"ph": "M", "pid": lane.rank, "name": "process_name", "args": {"name": name}}
    yield {"ph": "M", "pid": lane.rank, "name": "process_sort_index", "args": {"sort_index": lane.rank}}
    numbers = {track: number for number, track in enumerate(tracks_of(trace, lane), 1)}
    for track, number in numbers.items():
        yield {"ph": "M", "pid": lane.rank, "tid": number, "name": "thread_name", "args": {"name": track}}
    for span in spans_of(trace, lane):
        name = span.name if span.finished else f"{span.name} (never left)"
        yield {
            "ph": "X", "pid": lane.rank, "tid": numbers[span.track], "name": name, "cat": span.kind,
            "ts": _us(span.began_s), "dur": _us(span.ended_s - span.began_s), "args": dict(span.facts),
        }  # fmt: skip
    for one in lane.moments:
        yield {
            "ph": "i", "s": "p", "pid": lane.rank, "tid": numbers[EVENTS], "name": one.text, "cat": one.kind,
            "ts": _us(one.at_s), "args": {"stack": list(one.stack)},
        }  # fmt: skip
    for look in lane.usage:
        if look.memory_bytes is not None:
            used = {"bytes": int(look.memory_bytes)}
            yield {"ph": "C", "pid": lane.rank, "name": "own memory", "ts": _us(look.at_s), "args": used}


def _meetings(trace: JobTrace) -> Iterator[dict[str, Any]]:
    """Yields an arrow from the first rank in a collective to each later one."""
    met: dict[str, list[tuple[float, int, int]]] = {}
    for lane in trace.lanes:
        numbers = tracks_of(trace, lane)
        for span in spans_of(trace, lane):
            if span.meeting:
                place = numbers.index(span.track) + 1
                met.setdefault(span.meeting, []).append((span.began_s, lane.rank, place))
    for meeting, ranks in met.items():
        first, *others = sorted(ranks)
        for other in others:
            arrow = {"cat": "collective", "name": meeting, "id": f"{meeting}-{other[1]}"}
            yield {**arrow, "ph": "s", "pid": first[1], "tid": first[2], "ts": _us(first[0])}
            yield {**arrow, "ph": "f", "bp": "e", "pid": other[1], "tid": other[2], "ts": _us(other[0])}


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)

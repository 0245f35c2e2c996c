"""Spans of OpenTelemetry as OTLP's JSON: a resource a rank, under it a span of its whole life, steps and calls.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: ids in hex, 64 bit numbers as strings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from diagnostics.core.job_trace import JobTrace, Lane
from diagnostics.export.flat_events import Value, nanoseconds, spans_of

FORMAT = "otel"
HELP = "OpenTelemetry spans as OTLP JSON: trace-otlp.json"
OPENS = "curl -H 'content-type: application/json' --data @DIR/trace-otlp.json http://localhost:4318/v1/traces"

INTERNAL, ERROR = 1, 2


def files(trace: JobTrace) -> dict[str, bytes]:
    """Returns the one file."""
    body = {"resourceSpans": [_resource(trace, lane) for lane in trace.lanes]}
    return {"trace-otlp.json": (json.dumps(body, separators=(",", ":")) + "\n").encode()}


def _resource(trace: JobTrace, lane: Lane) -> dict[str, Any]:
    about: dict[str, Value] = {
        "service.name": "training", "process.pid": lane.pid, "process.command_line": trace.command, "rank": lane.rank,
    }  # fmt: skip
    scope = {"scope": {"name": "ups-doctor"}, "spans": list(_spans(trace, lane))}
    return {"resource": {"attributes": _attributes(about)}, "scopeSpans": [scope]}


def _spans(trace: JobTrace, lane: Lane) -> Iterator[dict[str, Any]]:
    def at(seconds: float) -> str:
        return str(trace.started_ns + nanoseconds(seconds))

    whole = {"traceId": _id(32, trace.command, trace.started_ns), "kind": INTERNAL}
    root = _id(16, trace.started_ns, lane.rank)
    failed = any(one.kind in ("exception", "missed") for one in lane.moments)
    yield {
        **whole, "spanId": root, "name": f"rank {lane.rank}", "startTimeUnixNano": at(lane.began_s),
        "endTimeUnixNano": at(lane.ended_s if lane.ended_s is not None else trace.until_s),
        "attributes": _attributes({"role": lane.role, "end": lane.end, "steps": lane.step_count}),
        "events": [
            {
                "timeUnixNano": at(one.at_s), "name": one.kind,
                "attributes": _attributes({"text": one.text, "stack": "\n".join(one.stack)}),
            }
            for one in lane.moments
        ],
        **({"status": {"code": ERROR, "message": lane.end}} if failed else {}),
    }  # fmt: skip
    steps: dict[int, str] = {}
    for place, span in enumerate(spans_of(trace, lane)):
        own = _id(16, trace.started_ns, lane.rank, place)
        if span.kind == "step":
            steps[int(span.facts["step"])] = own
        yield {
            **whole, "spanId": own, "parentSpanId": steps.get(span.inside, root), "name": span.name,
            "startTimeUnixNano": at(span.began_s), "endTimeUnixNano": at(span.ended_s),
            "attributes": _attributes({"kind": span.kind, "finished": span.finished, **span.facts}),
        }  # fmt: skip


def _id(digits: int, *parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:digits]


def _attributes(facts: dict[str, Value]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in facts.items()]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}

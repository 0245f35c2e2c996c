"""One JSON object a line, for jq, pandas and DuckDB: the job, its ranks, and all that they did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from diagnostics.core.job_trace import JobTrace, Lane
from diagnostics.export.flat_events import spans_of

FORMAT = "json-lines"
HELP = "one JSON object a line: trace.jsonl"
OPENS = "jq, pandas.read_json(..., lines=True), DuckDB"


def files(trace: JobTrace) -> dict[str, bytes]:
    """Returns the one file."""
    lines = [_job(trace), *(line for lane in trace.lanes for line in _of_lane(trace, lane))]
    return {"trace.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines).encode()}


def _job(trace: JobTrace) -> dict[str, Any]:
    return {
        "kind": "job", "schema": 1, "command": trace.command, "started_ns": trace.started_ns,
        "until_s": trace.until_s, "ranks": trace.ranks,
    }  # fmt: skip


def _of_lane(trace: JobTrace, lane: Lane) -> Iterator[dict[str, Any]]:
    yield {
        "kind": "rank", "rank": lane.rank, "pid": lane.pid, "role": lane.role, "began_s": lane.began_s,
        "ended_s": lane.ended_s, "end": lane.end, "steps": lane.step_count, "module": lane.module,
        "stack": list(lane.stack),
    }  # fmt: skip
    for span in spans_of(trace, lane):
        yield {
            "kind": span.kind, "rank": lane.rank, "name": span.name, "began_s": span.began_s,
            "ended_s": span.ended_s if span.finished else None, **span.facts,
        }  # fmt: skip
    for one in lane.moments:
        yield {
            "kind": one.kind, "rank": lane.rank, "at_s": one.at_s, "text": one.text, "stack": list(one.stack),
        }  # fmt: skip
    for look in lane.usage:
        yield {
            "kind": "usage", "rank": lane.rank, "at_s": look.at_s, "cpu_s": look.cpu_s,
            "memory_bytes": look.memory_bytes,
        }  # fmt: skip

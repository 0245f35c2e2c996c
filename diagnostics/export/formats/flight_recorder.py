"""The dumps of torch's flight recorder, one file a rank, for `torchfrtrace`: which ranks met in which collective.

Only what Python called is known: the all_reduces of DDP's and FSDP's C++ are not in them, and numbers have gaps. A call
that torch's analyser has no name for is left out. The files are pickles, as torch's own are: of strings and numbers.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from math import prod
from typing import Any

from diagnostics.agent.shared import operations
from diagnostics.core.job_trace import CallSpan, JobTrace, Lane
from diagnostics.export.flat_events import nanoseconds

FORMAT = "flight-recorder"
HELP = "dumps of torch's flight recorder: flight-recorder/rank_0 ..."
OPENS = "torchfrtrace --prefix rank_ DIR/flight-recorder"

VERSION = "2.10"
BACKENDS = {"nccl", "gloo", "xccl", "rccl", "hccl"}
MESSAGES = {op for op in operations.SENDS + operations.RECEIVES if operations.TENSOR[op]}
DTYPES = {
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long",
    "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool",
}  # fmt: skip
Group = tuple[str, tuple[int, ...]]  # name and ranks: groups of other ranks may have the same name
_BACKEND = re.compile(r"\bbackend=(\w+)")
_FRAME = re.compile(r"(.*):(\d+) (.*)")


def files(trace: JobTrace) -> dict[str, bytes]:
    """Returns a dump for each rank that left calls."""
    common = _first_common(trace)
    dumps = {lane.rank: _dump(trace, lane, common) for lane in trace.lanes if lane.groups}
    return {f"flight-recorder/rank_{rank}": pickle.dumps(dump, protocol=4) for rank, dump in dumps.items()}


def _first_common(trace: JobTrace) -> Mapping[Group, int]:
    """Returns the first number of each group that every rank's ring still holds: rings wrap at different calls."""
    first: dict[Group, int] = {}
    for lane in trace.lanes:
        own: dict[Group, int] = {}
        for call in lane.calls:
            if call.matched:
                own.setdefault((call.group, lane.groups.get(call.group, ())), call.number)
        for group, number in own.items():
            first[group] = max(first.get(group, 0), number)
    return first


def _dump(trace: JobTrace, lane: Lane, common: Mapping[Group, int]) -> dict[str, Any]:
    backend = _backend(lane)
    kept = [
        call
        for call in lane.calls
        if not call.matched or call.number >= common[call.group, lane.groups.get(call.group, ())]
    ]
    entries: list[dict[str, Any]] = []
    messages: dict[str, int] = {}
    for call in kept:
        entry = _entry(trace, lane, call, backend, messages)
        if entry is not None:
            entries.append({"record_id": len(entries), **entry})
    first = next(iter(lane.groups), "")
    groups = {
        name: {"name": name, "desc": "default_pg" if name == first else "undefined", "ranks": str(list(ranks))}
        for name, ranks in lane.groups.items()
    }
    return {"version": VERSION, "pg_config": groups, "pg_status": {}, "entries": entries}


def _entry(
    trace: JobTrace, lane: Lane, call: CallSpan, backend: str, messages: dict[str, int]
) -> dict[str, Any] | None:
    name = _name(lane, call, messages)
    if call.group not in lane.groups or name is None:
        return None
    sizes, outputs = _sizes(call, len(lane.groups[call.group]))
    dtype = DTYPES.get(call.dtype.split(" ")[0], call.dtype.split(" ")[0])
    at_ns = trace.started_ns + nanoseconds(call.began_s)
    done_ns = trace.started_ns + nanoseconds(call.ended_s) if call.ended_s is not None else None
    done = done_ns is not None and not call.asynchronous  # left is not done where nobody waited in it
    first = call.group == next(iter(lane.groups))
    return {
        "pg_id": list(lane.groups).index(call.group),
        "process_group": (call.group, "default_pg" if first else "undefined"),
        "collective_seq_id": call.number + 1,
        "p2p_seq_id": messages.get(call.group, 0),
        "op_id": call.number + 1,
        "profiling_name": f"{backend}:{name}",
        "time_created_ns": at_ns,
        "input_sizes": sizes,
        "input_dtypes": [dtype] if dtype else [],
        "output_sizes": outputs,
        "output_dtypes": [dtype] if dtype else [],
        "state": "completed" if done else "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": done_ns if done else None,
        "retired": done,
        "timeout_ms": 0,
        "is_p2p": call.op in MESSAGES,
        "frames": [_frame(one) for one in call.stack],
    }


def _name(lane: Lane, call: CallSpan, messages: dict[str, int]) -> str | None:
    if call.op in operations.DUMPED:
        return operations.DUMPED[call.op] if call.number >= 0 else None
    ranks = lane.groups.get(call.group, ())
    if call.op not in MESSAGES or call.root not in ranks or lane.rank not in ranks:
        return None
    messages[call.group] = messages.get(call.group, 0) + 1
    own, peer = ranks.index(lane.rank), ranks.index(call.root)
    return f"send {own}->{peer}" if call.op in operations.SENDS else f"recv {own}<-{peer}"


def _sizes(call: CallSpan, ranks: int) -> tuple[list[list[int]], list[list[int]]]:
    """Returns the sizes that go in and come out, as they follow from the tensor that the agent saw."""
    parts = call.shape.split("x") if call.shape and call.shape != "scalar" else []
    size = [int(part) for part in parts if part.isdecimal() and len(part) < 16]
    whole = [ranks * prod(size)]
    if call.op not in operations.DUMPED:
        return [size], [size]
    if not operations.TENSOR[call.op]:
        return [[1]], [[1]]
    if operations.FAMILY[call.op] == "all_gather":
        return [size], [whole]
    if operations.FAMILY[call.op] == "reduce_scatter":
        seen = operations.TENSOR[call.op] == "output"  # the smaller one
        return ([whole], [size]) if seen else ([size], [[prod(size) // max(1, ranks)]])
    return [size], [size]


def _backend(lane: Lane) -> str:
    found = [match[1] for one in lane.moments if (match := _BACKEND.search(one.text)) is not None]
    return found[-1] if found and found[-1] in BACKENDS else "nccl"


def _frame(text: str) -> dict[str, Any]:
    match = _FRAME.fullmatch(text)
    file, line, name = match.groups() if match is not None else (text, "0", "")
    return {"name": name, "filename": file, "line": int(line) if len(line) < 16 else 0}

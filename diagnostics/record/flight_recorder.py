"""Reads flight-PID-START.json: what torch's flight recorder knows of a process's collectives, C++ ones too. Pure.

Gloo never sets `state` and the times: there a collective is pending while it is not retired. NCCL has the states
scheduled, started and completed. The file is untrusted: what has the wrong type counts as missing, sizes are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from diagnostics.record.untrusted_values import number_of, text_of

MAX_ENTRIES = 20_000
MAX_KEPT = 256  # finished ones, the latest
MAX_SIZES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FlightEntry:
    """One collective as C++ began it."""

    group: str
    counted: int  # as the group's own counter counts: the first has 0. See `uneven` of GroupProgress
    op: str  # "all_reduce": the backend's name, which is not always that of the function called
    sizes: tuple[int, ...]  # elements of each input tensor, as far as they were recorded
    dtypes: str
    pending: bool
    created_ns: int  # wall clock
    timeout_s: float | None
    point_to_point: bool = False
    native_counter: bool = True  # `counted` is the group's counter itself; False: send and recv are not in it

    @property
    def shown(self) -> str:
        """Operation, elements and types: comparable between the recorders of two ranks."""
        return f"{self.op}({'+'.join(map(str, self.sizes))}, {self.dtypes})"


def flight_from_json(value: Any) -> tuple[FlightEntry, ...]:
    """Returns the pending collectives and the latest finished ones, oldest first. Raises ValueError for no recorder."""
    listed = value.get("entries", []) if isinstance(value, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError("holds no list of entries")
    entries = [entry for one in listed[-MAX_ENTRIES:] if isinstance(one, Mapping) for entry in _entry(one)]
    finished = sum(not entry.pending for entry in entries)
    kept = []
    for entry in entries:
        if not entry.pending:
            finished -= 1
        if entry.pending or finished < MAX_KEPT:
            kept.append(entry)
    return tuple(kept)


def _entry(value: Mapping[str, Any]) -> Iterator[FlightEntry]:
    names, said = value.get("process_group"), text_of(value.get("profiling_name"))
    group = text_of(names[0]) if isinstance(names, list) and names else ""
    backend, _, op = said.partition(":")
    gloo = backend == "gloo"
    number = number_of(value.get("op_id" if gloo else "collective_seq_id"))
    if number is None or number < 1:
        return
    timeout = number_of(value.get("timeout_ms"))
    completed = value.get("state") == "completed" or bool(number_of(value.get("time_discovered_completed_ns")))
    yield FlightEntry(
        group=group,
        counted=number - 1,
        op=op or said,
        sizes=tuple(_sizes(value.get("input_sizes"))),
        dtypes="+".join(text_of(one) for one in _some(value.get("input_dtypes"))),
        pending=value.get("retired") is not True and not completed,
        created_ns=number_of(value.get("time_created_ns")) or 0,
        timeout_s=timeout / 1000 if timeout else None,
        point_to_point=value.get("is_p2p") is True,
        native_counter=gloo,
    )


def _sizes(value: Any) -> Iterator[int]:
    for shape in _some(value):
        if isinstance(shape, list):
            yield prod(number for one in shape[:MAX_SIZES] if (number := number_of(one)) is not None)


def _some(value: Any) -> list[Any]:
    return value[:MAX_SIZES] if isinstance(value, list) else []

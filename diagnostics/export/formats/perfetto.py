"""Perfetto's own protobuf: one process a rank, tracks for steps and collectives, arrows where ranks met.

Numbers of fields: https://perfetto.dev/docs/reference/trace-packet-proto. Timestamps are nanoseconds since the job
started. tests/export/test_perfetto.py reads it back by the protos of Perfetto's own package.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping

from diagnostics.core.job_trace import JobTrace, Lane
from diagnostics.export.flat_events import EVENTS, TrackSpan, Value, nanoseconds, spans_of, tracks_of
from diagnostics.export.protobuf import double, fixed64, message, number, text

FORMAT = "perfetto"
HELP = "Perfetto's protobuf: trace.perfetto-trace"
OPENS = "https://ui.perfetto.dev (Open trace file; it stays in the browser)"

SEQUENCE, INCREMENTAL_CLEARED = 1, 1
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
PACKET, TIMESTAMP, SEQUENCE_ID, TRACK_EVENT, SEQUENCE_FLAGS, TRACK_DESCRIPTOR = 1, 8, 10, 11, 13, 60
UNIT_BYTES = 3


def files(trace: JobTrace) -> dict[str, bytes]:
    """Returns the one file."""
    return {"trace.perfetto-trace": b"".join(message(PACKET, packet) for packet in _packets(trace))}


def _packets(trace: JobTrace) -> Iterator[bytes]:
    yield number(SEQUENCE_ID, SEQUENCE) + number(SEQUENCE_FLAGS, INCREMENTAL_CLEARED)
    for lane in trace.lanes:
        yield from _descriptors(trace, lane)
        events = [*_slices(trace, lane), *_moments(lane), *_counters(lane)]
        # Ends before begins at one moment, a whole before its parts: as one slice closes, the next may open.
        for at_ns, _, packet in sorted(events, key=lambda one: one[:2]):
            yield number(TIMESTAMP, at_ns) + number(SEQUENCE_ID, SEQUENCE) + packet


def _uuid(lane: Lane, track: str = "") -> int:
    """Returns the number of a track, the same in each export of a record."""
    return (lane.rank + 1) << 32 | zlib.crc32(track.encode(errors="replace")) if track else (lane.rank + 1) << 32


def _descriptors(trace: JobTrace, lane: Lane) -> Iterator[bytes]:
    """Yields a process for the rank and the tracks in it. Ranks of several machines may share a pid: theirs is told."""
    name = f"rank {lane.rank}" + (f" ({lane.role})" if lane.role else "")
    process = message(3, number(1, lane.rank + 1), text(6, name), text(2, f"pid {lane.pid}"))
    yield _descriptor(number(1, _uuid(lane)), process)
    for track in tracks_of(trace, lane):
        yield _descriptor(number(1, _uuid(lane, track)), text(2, track), number(5, _uuid(lane)))
    if lane.usage:
        counter = message(8, number(3, UNIT_BYTES))
        yield _descriptor(number(1, _uuid(lane, "memory")), text(2, "own memory"), number(5, _uuid(lane)), counter)


def _descriptor(*parts: bytes) -> bytes:
    return number(SEQUENCE_ID, SEQUENCE) + message(TRACK_DESCRIPTOR, *parts)


def _slices(trace: JobTrace, lane: Lane) -> Iterator[tuple[int, tuple[int, int], bytes]]:
    for span in spans_of(trace, lane):
        began, ended = nanoseconds(span.began_s), nanoseconds(span.ended_s)
        deep = span.kind == "phase"
        yield began, (2 + deep, 0), _begin(lane, span)
        # What has no end is told by its name; a slice without an end would hide all that follows on its track.
        ends = (0 if deep else 1, 0) if ended > began else (4, 0)
        yield ended, ends, _event(lane, span.track, END)


def _begin(lane: Lane, span: TrackSpan) -> bytes:
    parts = [text(22, span.kind), text(23, span.name if span.finished else f"{span.name} (never left)")]
    parts += [message(4, *_annotation(name, value)) for name, value in span.facts.items()]
    if span.meeting:
        digest = hashlib.blake2b(span.meeting.encode(errors="replace"), digest_size=8).digest()
        parts.append(fixed64(47, int.from_bytes(digest, "little")))
    return _event(lane, span.track, BEGIN, *parts)


def _moments(lane: Lane) -> Iterator[tuple[int, tuple[int, int], bytes]]:
    for place, one in enumerate(lane.moments):
        facts: Mapping[str, Value] = {"stack": " <- ".join(one.stack)} if one.stack else {}
        parts = [text(22, one.kind), text(23, one.text), *(message(4, *_annotation(*fact)) for fact in facts.items())]
        yield nanoseconds(one.at_s), (5, place), _event(lane, EVENTS, INSTANT, *parts)


def _counters(lane: Lane) -> Iterator[tuple[int, tuple[int, int], bytes]]:
    for one in lane.usage:
        if one.memory_bytes is not None:
            event = _event(lane, "memory", COUNTER, number(30, int(one.memory_bytes)))
            yield nanoseconds(one.at_s), (6, 0), event


def _event(lane: Lane, track: str, kind: int, *parts: bytes) -> bytes:
    return message(TRACK_EVENT, number(9, kind), number(11, _uuid(lane, track)), *parts)


def _annotation(name: str, value: Value) -> tuple[bytes, bytes]:
    if isinstance(value, bool):
        return text(10, name), number(2, value)
    if isinstance(value, int):
        return text(10, name), number(4, value)
    if isinstance(value, float):
        return text(10, name), double(5, value)
    return text(10, name), text(6, value)

"""Perfetto's own protos read back what was written: the same numbers, slices that close, arrows where ranks met."""

from __future__ import annotations

from collections import Counter
from typing import Any

from made_trace import TRACE
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from diagnostics.export.formats.perfetto import files


def read() -> tuple[dict[int, str], dict[int, str], list[Any]]:
    """Returns the names of tracks and of the processes that they belong to, and the packets with events."""
    trace = Trace()
    (data,) = files(TRACE).values()
    assert trace.ParseFromString(data) == len(data)
    trace.DiscardUnknownFields()
    assert len(trace.SerializeToString()) == len(data)  # nothing that the protos do not know
    described = [packet.track_descriptor for packet in trace.packet if packet.HasField("track_descriptor")]
    processes = {one.uuid: one.process.process_name for one in described if one.HasField("process")}
    tracks = {one.uuid: one.name for one in described if not one.HasField("process")}
    owners = {one.uuid: processes[one.parent_uuid] for one in described if not one.HasField("process")}
    return tracks, owners, [packet for packet in trace.packet if packet.HasField("track_event")]


def test_every_span_is_read_back_with_its_times_on_the_track_of_its_rank() -> None:
    tracks, owners, events = read()
    found = []
    open_: dict[int, list[tuple[str, int]]] = {}
    for packet in events:
        event = packet.track_event
        stack = open_.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((event.name, packet.timestamp))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            name, began = stack.pop()
            place = owners[event.track_uuid], tracks[event.track_uuid]
            found.append((*place, name, began / 1e9, (packet.timestamp - began) / 1e9))
    assert [stack for stack in open_.values() if stack] == []
    assert [one for one in found if one[1] == "collectives"] == [
        ("rank 0", "collectives", "all_reduce #16", 2.0, 0.5),
        ("rank 0", "collectives", "all_reduce #17 (never left)", 2.6, 0.6),
        ("rank 1 (culprit)", "collectives", "all_reduce #15", 1.0, 0.1),
        ("rank 1 (culprit)", "collectives", "all_reduce #16", 2.0, 0.5),
    ]
    steps = [one[2:] for one in found if one[:2] == ("rank 0", "steps")]
    assert steps[:3] == [("data", 0.5, 0.1), ("forward", 0.6, 0.4), ("step 1", 0.5, 0.5)]
    assert Counter(name for name, *_ in steps) == {"data": 4, "forward": 4, **{f"step {n}": 1 for n in range(1, 5)}}


def test_ranks_that_met_share_a_flow_and_what_is_known_of_a_call_stands_with_it() -> None:
    _, _, events = read()
    flows = Counter(tuple(packet.track_event.flow_ids) for packet in events if packet.track_event.flow_ids)
    assert sorted(flows.values()) == [1, 1, 2]
    facts = [
        {one.name: one.string_value or one.int_value for one in packet.track_event.debug_annotations}
        for packet in events
        if packet.track_event.name == "all_reduce #16"
    ]
    known = {"group": "0", "number": 16, "shape": "8x3", "dtype": "float32"}
    assert facts == [{**known, "stack": "train.py:31 step <- train.py:58 main"}] * 2


def test_moments_and_memory_are_read_back() -> None:
    tracks, owners, events = read()
    moments = [
        (owners[packet.track_event.track_uuid], packet.track_event.name, packet.timestamp / 1e9)
        for packet in events
        if packet.track_event.type == TrackEvent.TYPE_INSTANT
    ]
    assert moments == [
        ("rank 0", "ended with exit code 1", 3.2),
        ("rank 1 (culprit)", "never came to all_reduce #17 of group 0, in which others wait", 2.6),
    ]
    memory = [one.track_event.counter_value for one in events if tracks[one.track_event.track_uuid] == "own memory"]
    assert memory == [100_000_000, 200_000_000] * 2

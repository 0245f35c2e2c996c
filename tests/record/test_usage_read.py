"""Looks at what a job used, timings of its steps and stacks of slow processes, read back from files of anybody's."""

from __future__ import annotations

import json
import struct

from diagnostics.agent.shared import timing_layout as layout
from diagnostics.core.frame import Frame
from diagnostics.record.step_stacks import SeenStack, step_stacks_of
from diagnostics.record.step_timings import PHASES, Timings, timings_of
from diagnostics.record.usage import MachineUsage, ProcessUsage, usage_of

PROCESS = [1.5, 0.25, 0.125, 1048576.0, 2.0, 0.0, 300.0, 4096.0, 5.0]
MACHINE = [10.0, 20.0, 0.5, -1.0]


def test_looks_are_read_by_time_and_lines_that_are_none_are_left_out() -> None:
    good = [{"at_s": at_s, "machine": MACHINE, "processes": {"7-11": PROCESS}} for at_s in (2.0, 1.0)]
    bad = [
        {"at_s": "1", "machine": MACHINE}, {"at_s": 3.0, "machine": MACHINE[1:]}, {"at_s": 3.0, "machine": [1, "2"]},
        {"at_s": 3.0, "processes": {"7-11": [*PROCESS[1:], 1e300]}}, {"at_s": True, "machine": MACHINE}, [], 7,
        {"at_s": 3.0, "processes": {"7-11": PROCESS[1:]}}, {"at_s": 3.0, "processes": []},
        {"at_s": -5, "machine": MACHINE},
    ]  # fmt: skip
    text = "\n".join([*map(json.dumps, [*good, *bad]), "{", "\0", '{"at_s": NaN}'])

    usage = usage_of(text)

    assert usage.machine == (MachineUsage(1.0, *MACHINE), MachineUsage(2.0, *MACHINE))
    assert usage.processes == {"7-11": (ProcessUsage(1.0, *PROCESS), ProcessUsage(2.0, *PROCESS))}


def test_a_ring_of_steps_is_read_in_order_and_what_is_cut_short_tells_nothing() -> None:
    area = bytearray(layout.TIMINGS_BYTES)
    first = layout.STEP_SLOTS - 1
    for number in range(first, first + 3):  # over the end of the ring
        at = layout.RING_OFFSET + number % layout.STEP_SLOTS * layout.STEP_BYTES
        phases = [1000 * (one + 1) for one in range(len(PHASES))]
        struct.pack_into(layout.STEP, area, at, number, 0, number * 10**9, *phases, 2000, 3000, 9000, 500, 4, 1)
    struct.pack_into(layout.STEP, area, layout.RING_OFFSET + 5 * layout.STEP_BYTES, 6, *[0] * 16)  # of another slot
    struct.pack_into(
        layout.STAGE, area, layout.STAGES_OFFSET + 33 * layout.STAGE_BYTES, 4, 8 * 10**9, 10**9, 0, 0, 9 * 10**9, 0
    )
    struct.pack_into("<7Q", area, 0, first + 2, layout.FLAG_DEVICE, 3, 10**9, 4, 2, 8)

    timings = timings_of(bytes(area), 10**9)

    assert [step.number for step in timings.steps] == [first, first + 1, first + 2]
    one = timings.steps[0]
    assert one.phases == (0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008)
    assert (one.end_s, one.forward_cpu_s, one.backward_cpu_s, one.cpu_s) == (first - 1, 0.002, 0.003, 0.009)
    assert (one.gc_s, one.compiles, one.evaluated) == (0.0005, 4, True)
    (row,) = timings.stages
    assert (row.loader, row.worker, row.batches, row.fetch_s, row.busy) == (1, 1, 4, 8.0, 6 / 9)
    assert (timings.count, timings.on_device, timings.gc_count, timings.threads, timings.cpus) == (
        first + 2,
        True,
        3,
        2,
        8,
    )
    assert timings_of(bytes(area[:-1]), 0) == Timings()


def test_stacks_are_read_most_frequent_first_and_nothing_else_is() -> None:
    frame = ["train.py", 7, "main"]
    told = {
        "7-11": [[2, [frame]], [9, [["a\0b", 1, "f"], ["x", "1", "f"], 5]], [True], "x", [1, 2]],
        "8-11": {},
        "9-1": [],
    }

    stacks = step_stacks_of(json.dumps(told))

    assert stacks["7-11"][1] == SeenStack(count=2, frames=(Frame(file="train.py", line=7, function="main"),))
    assert [(one.count, len(one.frames)) for one in stacks["7-11"]] == [(9, 1), (2, 1)]
    assert (stacks["9-1"], set(stacks)) == ((), {"7-11", "9-1"})
    assert step_stacks_of("") == step_stacks_of("[") == step_stacks_of("[]") == {}

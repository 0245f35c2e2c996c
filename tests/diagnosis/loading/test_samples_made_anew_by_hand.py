"""Samples that are made anew in each pass: told where that takes the CPU time, whoever else wants it."""

from __future__ import annotations

from typing import Any

import hand_made as made
from made_steps import job, rank

from diagnostics.diagnosis.slow import ranks_wait_for_data
from diagnostics.dynamic.job.job import Job
from diagnostics.record.step_stacks import SeenStack
from diagnostics.record.step_timings import WorkerStages

STARVED = {"data": 0.08, "forward": 0.01, "backward": 0.01, "optimizer": 0.002, "other": 0.002}
QUIET = {0: 0.0, 1: 0.0}


def told(one: Job) -> list[str]:
    match = ranks_wait_for_data.match(one)
    return [] if match is None else [match.finding.code]


STACK = [
    *made.frames("/lib/python3.11/zipfile.py:9", "data.py:9"),
    made.frame("/x/torch/utils/data/_utils/fetch.py:5", "fetch"),
]
DECODES = (WorkerStages(loader=0, worker=0, batches=100, fetch_s=8.0, fetch_cpu_s=7.9, collate_s=0.1,
                        collate_cpu_s=0.1, cycle_s=10.0),)  # fmt: skip


def decoding(*frames: Any, passes: int = 3, cpu_s: float = 0.1, **fields: Any) -> Job:
    """Returns ranks whose samples are made beside neighbours that take the CPUs."""
    seen = (SeenStack(count=9, frames=frames),)
    ranks = [
        rank(number, STARVED, timings={"stages": DECODES}, cpu_s=cpu_s, passes=passes, step_stacks=seen, **fields)
        for number in (0, 1)
    ]
    return job(*ranks, delays=QUIET, others=0.7)


def test_files_that_are_decoded_in_each_pass_are_told_at_their_line_whoever_takes_the_cpus() -> None:
    match = ranks_wait_for_data.match(decoding(*STACK))
    assert match is not None
    assert match.locations == ("data.py:9", "train.py:3")
    assert match.finding.title.endswith("__getitem__ is on the CPU, data.py:9 reads and decodes files in each pass")


def test_samples_that_are_augmented_or_read_once_or_cost_little_are_left_alone() -> None:
    assert told(decoding(*STACK[1:], augments=True)) == []  # its own line, which computes
    assert told(decoding(*STACK, passes=1)) == []
    assert told(decoding(*STACK, cpu_s=0.4)) == []


def test_samples_that_are_computed_alike_in_each_pass_are_told_whoever_takes_the_cpus() -> None:
    match = ranks_wait_for_data.match(decoding(*STACK[1:]))
    assert match is not None
    assert match.locations == ("data.py:9", "train.py:3")
    assert match.finding.title.endswith("__getitem__ is on the CPU, and makes the same samples anew in each pass")
    assert "400 came twice, each with the same contents" in [one.observed for one in match.finding.evidence]

    assert told(decoding(*STACK[1:], passes=1)) == []
    assert told(decoding(*STACK[1:], cpu_s=0.4)) == []
    assert told(decoding(*STACK[1:], loader={"batch_size": "200"})) == []  # handed out of memory

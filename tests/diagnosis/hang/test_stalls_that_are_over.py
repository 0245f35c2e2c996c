"""What is noted of a time without progress that came to an end: the job trained again, or it ended with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent

from diagnostics.dynamic.stall.stall_evidence import past_stalls
from diagnostics.record.agent_data import Steps
from diagnostics.record.supervisor_facts import Stall

OVER = Stall(began_s=4.0, seen_s=14.0, over_s=20.0)


@pytest.mark.parametrize(
    ("steps", "ended_s", "came"),
    [
        (Steps(count=30, last_s=20.4), 20.6, "went on"),  # ten more steps, quicker than two looks are apart
        (Steps(count=20, last_s=3.9), 20.6, "ended"),  # its end is what came
        (Steps(count=20, last_s=3.9), 90.0, "went on"),  # without a step, but for long
        (Steps(backwards=9, backward_entered_s=20.4), 20.6, "went on"),  # parameters updated by hand
    ],
)
def test_a_stall_was_over_with_training_or_with_the_end_of_the_job(
    steps: Steps, ended_s: float, came: str, tmp_path: Path
) -> None:
    rank = a_process(100, agent=replace(agent(pid=100), steps=steps), code=0)
    job = a_job(rank, code=0, cwd=tmp_path, facts={"stalls": (OVER,), "ended_s": ended_s})
    assert past_stalls(job) == [f"no progress from 4 s to 20 s, then it {came}"]

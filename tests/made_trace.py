"""The trace of a job whose rank 0 waits for rank 1 in a collective, put together by hand."""

from __future__ import annotations

from typing import Any

from diagnostics.core.job_trace import CallSpan, JobTrace, Lane, Moment, StepSpan, UsageSample

MISSED = Moment(at_s=2.6, kind="missed", text="never came to all_reduce #17 of group 0, in which others wait")


def call(number: int, began_s: float, ended_s: float | None, **fields: Any) -> CallSpan:
    """Returns one all_reduce."""
    known = {
        "op": "all_reduce", "group": "0", "number": number, "shape": "8x3", "dtype": "float32", "root": None,
        "began_s": began_s, "ended_s": ended_s, "meeting": f"0 of 0 #{number}",
        "stack": ("train.py:31 step", "train.py:58 main"),
    }  # fmt: skip
    return CallSpan(**{**known, **fields})


def lane(rank: int, **fields: Any) -> Lane:
    """Returns one rank with four steps of 0.5 s and two collectives."""
    known = {
        "rank": rank, "pid": 4101 + rank, "role": "", "began_s": 0.0, "ended_s": 3.2, "end": "ended with exit code 1",
        "steps": tuple(
            StepSpan(number=one, began_s=one / 2, ended_s=one / 2 + 0.5, phases=(("data", 0.1), ("forward", 0.4)))
            for one in range(1, 5)
        ),
        "calls": (call(15, 1.0, 1.1), call(16, 2.0, 2.5)), "step_count": 4, "module": "blocks.0.attention",
        "moments": (Moment(at_s=3.2, kind="end", text="ended with exit code 1"),),
        "usage": tuple(UsageSample(at_s=at, cpu_s=at, memory_bytes=1e8 * at) for at in (1.0, 2.0)),
        "groups": {"0": (0, 1)}, "same": (rank,),
    }  # fmt: skip
    return Lane(**{**known, **fields})


TRACE = JobTrace(
    command="torchrun train.py", started_ns=1_700_000_000_000_000_000, until_s=3.3, ranks=2,
    lanes=(lane(0, calls=(call(16, 2.0, 2.5), call(17, 2.6, None))), lane(1, role="culprit", moments=(MISSED,))),
)  # fmt: skip

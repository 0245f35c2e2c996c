"""When a job hung, as far as its record tells, and whether it gets out again by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hand_made as made
import pytest

from diagnostics.dynamic.collectives.hang_time import ended_by_itself, ended_by_own_timeout, hang_time
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.collectives.timeout_recovery import may_time_out
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock, DeadlockKind
from diagnostics.record.agent_data import CollectiveCall
from diagnostics.record.supervisor_facts import ProvedHang

GAVE_UP = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 6000ms for recv operation"
PROVED = ProvedHang(began_s=2.0, proved_s=4.5, ranks=(0, 1))


def rank(text: str = GAVE_UP, *, code: int = 1, left_s: float = 8.0) -> Any:
    call = CollectiveCall(
        sequence=3, number=3, op="all_reduce", group="0", shape="8", dtype="float32", root=None,
        path=made.frames("train.py:3"), entered_s=2.0, left_s=left_s, thread=100, failed=True,
    )  # fmt: skip
    return made.a_process(
        rank=0, code=code, agent=made.agent(collectives=(call,)), raised=(made.raised(text, at_s=8.1),)
    )


def ended(process: Any, code: int = 1, **job: Any) -> Any:
    return made.a_job(process, code=code, facts={"ended_s": 9.0, **job})


def test_a_job_whose_own_timeout_fired_is_looked_at_just_before() -> None:
    job = ended(rank())
    assert hang_time(job) == pytest.approx(7.98)
    assert ended_by_own_timeout(job)
    assert ended_by_itself(job)


def test_a_proof_tells_the_moment_and_the_timeout_the_end() -> None:
    job = ended(rank(), proved=(PROVED,))
    assert (hang_time(job), ended_by_own_timeout(job)) == (4.5, True)


def test_a_job_that_was_ended_in_its_deadlock_hung() -> None:
    job = ended(rank(), proved=(PROVED,), ended_by="deadlock")
    assert (hang_time(job), ended_by_itself(job)) == (4.5, False)


def test_a_job_that_went_on_and_ended_well_did_not_hang() -> None:
    assert hang_time(ended(rank(code=0), code=0, proved=(PROVED,))) is None


def test_an_error_that_is_no_timeout_is_no_hang() -> None:
    assert hang_time(ended(rank("RuntimeError: shapes cannot be multiplied"))) is None
    assert hang_time(ended(rank(left_s=2.1), signal=None)) == pytest.approx(8.08)


CALL = "import contextlib\nimport torch.distributed as dist\n"
SOURCES = {
    "a handler": (CALL + "try:\n    dist.barrier()\nexcept RuntimeError:\n    print()\n", 4, True),
    "a handler that raises on": (CALL + "try:\n    dist.barrier()\nexcept RuntimeError:\n    raise\n", 4, False),
    "another exception": (CALL + "try:\n    dist.barrier()\nexcept KeyError:\n    print()\n", 4, False),
    "suppress": (CALL + "with contextlib.suppress(RuntimeError):\n    dist.barrier()\n", 4, True),
    "an own manager": (
        CALL + "class Calm:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\n"
        "with Calm():\n    dist.barrier()\n", 7, True,
    ),
    "nothing": (CALL + "dist.barrier()\n", 3, False),
}  # fmt: skip


@pytest.mark.parametrize("timeout_s", [6.0, 1800.0])
@pytest.mark.parametrize("name", SOURCES)
def test_a_job_recovers_only_by_a_short_timeout_that_it_catches(name: str, timeout_s: float, tmp_path: Path) -> None:
    text, line, caught = SOURCES[name]
    job = made.a_job(made.a_process(agent=made.agent()), cwd=tmp_path, files={"train.py": text})
    wait = PendingOperation(
        kind=OperationKind.COLLECTIVE, op="barrier", group="a", ranks=(0, 1), slot=1, timeout_s=timeout_s,
        path=(made.frame(f"train.py:{line}", "<module>"),),
    )  # fmt: skip
    one = RankState(rank=0, pid=100, at_s=9.0, stand=Whereabouts.WAITING, waits=(wait,))
    lock = Deadlock(knot=DeadlockKind.CROSSED, ranks=(0,), positions=(one,))
    assert may_time_out(job, lock) is (caught and timeout_s < 300)

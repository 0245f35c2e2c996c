"""A timeout that fired: which rank was missing, whether it was slow or stuck, and where both signatures are silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hand_made import a_job, agent, event, raised
from stalled import BARRIER, at, lib, looks, rank

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.hang import slow_rank_times_out, stuck_rank_times_out
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import CollectiveCall

SOURCE = """\
import time
def evaluate(model, batches, stop):
    for batch in batches:
        model(batch)
    time.sleep(9)
    stop.acquire()
    while True:
        model(None)
def main():
    for step in range(9):
        loss.backward()
        if rank == 0:
            evaluate(model, batches, stop)
        dist.barrier()
"""
GLOO = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 5000ms for recv operation to complete"
MONITORED = "RuntimeError: [Rank 1]: Ranks 0 failed to pass monitoredBarrier in 5000 ms"
LOST = "RuntimeError: [gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:5123"
Told = tuple[str, tuple[int, ...], tuple[int, ...], str, Confidence] | None


def call(folder: Path, entered_s: float, left_s: float | None, *, failed: bool = False) -> CollectiveCall:
    """Returns a barrier of the loop."""
    path = (at(folder, "train.py:14"),)
    return CollectiveCall(
        sequence=int(entered_s * 10), number=3, op="barrier", group="0", shape="", dtype="", root=None, path=path,
        entered_s=entered_s, left_s=left_s, failed=failed,
    )  # fmt: skip


def waiter(folder: Path, number: int = 1, text: str = GLOO, at_s: float = 15.0) -> JobProcess:
    """Returns a rank that waited for 5 s and gave up."""
    calls = (call(folder, 9.0, 9.1), call(folder, at_s - 5, at_s, failed=True))
    own = agent(event("process-group", f"rank={number}"), pid=100 + number, collectives=calls)
    gave_up = raised(text, f"{folder}/train.py:14", at_s=at_s)
    return rank(number, code=1, signal=None, ended_by="", at_s=at_s + 1, agent=own, raised=(gave_up,))


def late(folder: Path, *stack: Frame, came_s: float | None = None, **fields: Any) -> JobProcess:
    """Returns rank 0, which left the barrier before and was not in this one when the other gave up."""
    calls = (call(folder, 9.0, 9.1), *((call(folder, came_s, came_s + 0.1, failed=True),) if came_s else ()))
    own = agent(event("process-group", "rank=0"), pid=100, collectives=calls, steps=4)
    return rank(0, *stack, agent=own, ended_by="launcher", at_s=17.0, **fields)


def failed(folder: Path, *processes: JobProcess) -> Job:
    """Returns a job that ended with its own code."""
    return a_job(*processes, cwd=folder, files={"train.py": SOURCE}, culprits=())


def told(job: Job) -> tuple[Told, Told]:
    """Returns what the slow and the stuck signature say: class, culprits, victims, line, how sure."""
    return _told(slow_rank_times_out.match(job)), _told(stuck_rank_times_out.match(job))


def _told(match: Match | None) -> Told:
    if match is None:
        return None
    assert match.outcome is JobOutcome.CRASH  # nobody ended it: it has an exit code of its own
    return match.failure_class, match.culprit_ranks, match.victim_ranks, match.locations[0], match.finding.confidence


@pytest.mark.parametrize("text", [GLOO, MONITORED])
def test_a_rank_that_worked_or_slept_when_the_timeout_fired_was_slow(text: str, tmp_path: Path) -> None:
    slept = late(tmp_path, at(tmp_path, "train.py:5", "evaluate"), at(tmp_path, "train.py:13"))
    expected = "collective-timeout", (0,), (1,), "train.py:5", Confidence.LIKELY
    assert told(failed(tmp_path, slept, waiter(tmp_path, text=text))) == (expected, None)
    path = at(tmp_path, "train.py:4", "evaluate"), at(tmp_path, "train.py:13")
    worked = late(tmp_path, *path, samples=looks("R", 1.0))
    expected = "collective-timeout", (0,), (1,), "train.py:3", Confidence.LIKELY
    assert told(failed(tmp_path, worked, waiter(tmp_path, text=text))) == (expected, None)


def test_the_branch_that_only_the_slow_rank_took_is_named(tmp_path: Path) -> None:
    slept = late(tmp_path, at(tmp_path, "train.py:5", "evaluate"), at(tmp_path, "train.py:13"))
    match = slow_rank_times_out.match(failed(tmp_path, slept, waiter(tmp_path)))
    assert match is not None
    assert match.locations == ("train.py:5", "train.py:12", "train.py:13", "train.py:14")


def test_work_deep_inside_of_a_call_is_told_by_that_call_beside_the_barrier(tmp_path: Path) -> None:
    path = at(tmp_path, "train.py:4", "apply"), at(tmp_path, "train.py:8", "evaluate"), at(tmp_path, "train.py:13")
    match = slow_rank_times_out.match(
        failed(tmp_path, late(tmp_path, *path, samples=looks("R", 1.0)), waiter(tmp_path))
    )
    assert match is not None
    assert match.locations[:2] == ("train.py:13", "train.py:3")
    assert "rank 0 was at train.py:13, in train.py:3: it loops for each of" in match.finding.title


def test_a_rank_that_waited_for_a_lock_or_looped_for_ever_was_stuck(tmp_path: Path) -> None:
    blocked = late(tmp_path, at(tmp_path, "train.py:6", "evaluate"), samples=looks(syscall="futex"))
    expected = "rank-stalled", (0,), (1,), "train.py:6", Confidence.LIKELY
    assert told(failed(tmp_path, blocked, waiter(tmp_path))) == (None, expected)
    looped = late(tmp_path, at(tmp_path, "train.py:8", "evaluate"), samples=looks("R", 1.0))
    expected = "rank-stalled", (0,), (1,), "train.py:7", Confidence.LIKELY
    assert told(failed(tmp_path, looped, waiter(tmp_path))) == (None, expected)


def test_a_rank_that_came_after_all_was_slow_for_sure(tmp_path: Path) -> None:
    seen = looks(syscall="futex")  # from 10 s to 16 s
    came = late(
        tmp_path, at(tmp_path, "train.py:6", "evaluate"), came_s=16.5, samples=seen,
        raised=(raised(LOST, f"{tmp_path}/train.py:14", at_s=16.6),),
    )  # fmt: skip
    expected = "collective-timeout", (0,), (1,), "train.py:6", Confidence.CONFIRMED
    assert told(failed(tmp_path, came, waiter(tmp_path))) == (expected, None)


def test_one_that_nobody_saw_before_it_came_is_named_with_what_it_came_to(tmp_path: Path) -> None:
    came = late(tmp_path, came_s=15.5, raised=(raised(LOST, f"{tmp_path}/train.py:14", at_s=15.6),))
    expected = "collective-timeout", (0,), (1,), "train.py:14", Confidence.POSSIBLE
    assert told(failed(tmp_path, came, waiter(tmp_path))) == (expected, None)


def test_both_are_silent_where_no_living_rank_was_missing(tmp_path: Path) -> None:
    both = failed(tmp_path, waiter(tmp_path, 0), waiter(tmp_path, 1, at_s=15.2))
    assert told(both) == (None, None)
    left = rank(0, code=0, signal=None, ended_by="", at_s=10.0)
    assert told(failed(tmp_path, left, waiter(tmp_path))) == (None, None)
    inside = rank(0, *BARRIER, ended_by="launcher", agent=agent(
        event("process-group", "rank=0"), collectives=(call(tmp_path, 9.5, None),)))  # fmt: skip
    assert told(failed(tmp_path, inside, waiter(tmp_path))) == (None, None)


def test_both_are_silent_where_a_rank_failed_by_its_own_error_or_no_timeout_fired(tmp_path: Path) -> None:
    own = late(tmp_path, at(tmp_path, "train.py:5"), raised=(raised("ValueError: nan", at_s=12.0),))
    assert told(failed(tmp_path, own, waiter(tmp_path))) == (None, None)
    slept = late(tmp_path, at(tmp_path, "train.py:5"))
    assert told(failed(tmp_path, slept, waiter(tmp_path, text="ValueError: nan"))) == (None, None)
    before = agent(event("process-group-begin", "rank=1"), pid=101)
    early = rank(1, code=1, signal=None, ended_by="", agent=before, raised=(raised(GLOO, at_s=15.0),))
    assert told(failed(tmp_path, slept, early)) == (None, None)


def test_the_watchdog_of_nccl_is_read_from_what_the_rank_wrote(tmp_path: Path) -> None:
    said = (
        "[rank1]:[E] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE) ran for 600024 "
        "milliseconds before timing out."
    )
    own = agent(event("process-group", "rank=1"), pid=101, collectives=(call(tmp_path, 10.0, None),))
    aborted = rank(1, signal=6, ended_by="", at_s=15.0, agent=own, stderr=said)
    read = lib("socket.py:706", "SocketIO.readinto")
    slow = late(tmp_path, read, at(tmp_path, "train.py:5"), samples=looks(syscall="recvfrom 9"))
    expected = "rank-stalled", (0,), (1,), "train.py:5", Confidence.LIKELY
    assert told(failed(tmp_path, slow, aborted)) == (None, expected)

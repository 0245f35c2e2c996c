"""Forked children that wait for a thread of their parent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hand_made as made
import pytest
from hung_jobs import STDLIB, TORCH, hung, living, say, stack

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.hang import fork_leaves_lock
from diagnostics.dynamic.job.job import Job, ProcessRole

FOR_EVER = "202 0x55ed806d0d20 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd1f6e12c0 0x7ffa0daa3f16"
BETWEEN_PROCESSES = "202 0x7fed806d0d20 0x109 0x0 0x0 0x0 0xffffffff 0x7ffd1f6e12c0 0x7ffa0daa3f16"
WITH_A_TIMEOUT = "202 0x55ed806d0d20 0x189 0x0 0x7ffd1f6e1200 0x0 0xffffffff 0x7ffd1f6e12c0 0x7ffa0daa3f16"
DATA = """LOCK = Lock()

def refresh():
    with LOCK:
        sleep(1)

Thread(target=refresh).start()

def item(i):
    with LOCK:
        return i
"""
FETCH = f"{TORCH}/utils/data/_utils/fetch.py:54:fetch"


IN_LOADER = (
    f"{STDLIB}/multiprocessing/queues.py:113:Queue.get",
    f"{TORCH}/utils/data/dataloader.py:1291:_MultiProcessingDataLoaderIter._try_get_data",
)


def forked(
    tmp_path: Path, *calls: str, child: tuple[Any, ...], parent: tuple[Any, ...], text: str = DATA,
    waits: tuple[str, ...] = IN_LOADER,
) -> Job:  # fmt: skip
    """Returns the case of a rank and its data worker; `calls` are the system calls of the worker's threads."""
    rank = living(
        100, 0, stack(*waits, "train.py:5:<module>"), *parent,
        events=(
            made.event("dataloader", "DataLoader", "train.py:4"),
            made.event("child", "pid=200 how=process | Process-1 a.worker._worker_loop", "train.py:5"),
        ),
    )  # fmt: skip
    worker = living(200, 0, *child, part=ProcessRole.DATA_WORKER, parent_pid=100, of_agent={"forked_from": 100})
    threads = [{"native_id": 200 + at, "name": "python", "system_call": call} for at, call in enumerate(calls)]
    extra = {"proc-200.json": json.dumps({"state": "S", "threads": threads})}
    return hung(rank, worker, tmp_path=tmp_path, files={"data.py": text}, extra=extra)


IN_ITEM = stack("data.py:10:item", FETCH)
HOLDS = stack("data.py:5:refresh", f"{STDLIB}/threading.py:982:run")


def test_a_lock_that_a_thread_held_at_the_fork_is_told_with_child_thread_and_loader(tmp_path: Path) -> None:
    job = forked(tmp_path, FOR_EVER, child=(IN_ITEM,), parent=(HOLDS,))
    found = fork_leaves_lock.match(job)
    assert say(found) == (
        "fork-deadlock", (0,), ("data.py:4", "data.py:10", "data.py:5", "train.py:4", "train.py:5", "data.py:7"),
    )  # fmt: skip
    assert found is not None
    assert found.finding.confidence is Confidence.CONFIRMED
    assert found.finding.title == (
        "A data worker of rank 0 (process 200) waits for LOCK at data.py:10, which a thread of its parent held at "
        "data.py:4 when it forked"
    )


def test_servants_of_multiprocessing_in_the_child_release_nothing(tmp_path: Path) -> None:
    accepts = stack(f"{STDLIB}/multiprocessing/resource_sharer.py:138:_serve", f"{STDLIB}/threading.py:982:run")
    job = forked(tmp_path, FOR_EVER, "288 0x11 0x0", child=(IN_ITEM, accepts), parent=(HOLDS,))
    assert say(fork_leaves_lock.match(job))[0] == "fork-deadlock"


@pytest.mark.parametrize(
    "calls",
    [(BETWEEN_PROCESSES,), (WITH_A_TIMEOUT,), ("230 0x1 0x1 0x7ffc 0x0",), ("running",), (FOR_EVER, "0 0x5 0x7f 0x1")],
)
def test_a_wait_that_somebody_may_end_is_no_proof(calls: tuple[str, ...], tmp_path: Path) -> None:
    assert fork_leaves_lock.match(forked(tmp_path, *calls, child=(IN_ITEM,), parent=(HOLDS,))) is None


def test_native_code_that_waits_for_threads_of_its_own_is_told_without_a_lock(tmp_path: Path) -> None:
    job = forked(tmp_path, FOR_EVER, child=(stack("data.py:11:item", FETCH),), parent=(), text="\n" * 10 + "a @ b\n")
    found = fork_leaves_lock.match(job)
    assert say(found) == ("fork-deadlock", (0,), ("data.py:11", "train.py:4", "train.py:5"))
    assert found is not None
    assert "inside native code" in found.finding.title


def test_a_child_that_took_the_lock_itself_is_no_fork_deadlock(tmp_path: Path) -> None:
    text = "def item(i):\n    with LOCK:\n        return again(i)\n\ndef again(i):\n    with LOCK:\n        return i\n"
    child = stack("data.py:6:again", "data.py:3:item", FETCH)
    assert fork_leaves_lock.match(forked(tmp_path, FOR_EVER, child=(child,), parent=(), text=text)) is None


@pytest.mark.parametrize(
    ("between", "expected"), [("pass", None), ("LOCK.acquire(timeout=1)", None), ("LOCK.release()", "fork-deadlock")]
)
def test_a_child_that_takes_its_lock_twice_in_one_function_is_no_fork_deadlock(
    between: str, expected: str | None, tmp_path: Path
) -> None:
    text = f"def item(i):\n    LOCK.acquire()\n    {between}\n    LOCK.acquire()\n"
    job = forked(tmp_path, FOR_EVER, child=(stack("data.py:4:item", FETCH),), parent=(HOLDS,), text=text)
    found = fork_leaves_lock.match(job)
    assert (found and found.failure_class) == expected


def test_a_lock_that_no_thread_is_seen_to_have_is_not_called_held_at_the_fork(tmp_path: Path) -> None:
    found = fork_leaves_lock.match(forked(tmp_path, FOR_EVER, child=(IN_ITEM,), parent=()))
    assert found is not None
    assert found.finding.confidence is Confidence.LIKELY
    assert found.finding.title == (
        "A data worker of rank 0 (process 200) waits for LOCK at data.py:10, and no thread of its own can release it, "
        "as where a thread of its parent held it when that forked"
    )


def test_a_process_that_was_not_forked_has_its_locks_from_nobody(tmp_path: Path) -> None:
    job = forked(tmp_path, FOR_EVER, child=(IN_ITEM,), parent=(HOLDS,))
    rank, worker = job.processes
    assert worker.agent is not None
    spawned = living(200, 0, IN_ITEM, part=ProcessRole.DATA_WORKER, parent_pid=100)
    assert fork_leaves_lock.match(hung(rank, spawned, tmp_path=tmp_path, extra=dict(job.extra))) is None


def test_a_child_that_nobody_waits_for_may_sleep_for_ever(tmp_path: Path) -> None:
    job = forked(tmp_path, FOR_EVER, child=(IN_ITEM,), parent=(HOLDS,), waits=("prepare.py:3:load",))
    assert fork_leaves_lock.match(job) is None

"""Where ranks stood, read from what real two-rank jobs recorded; and the deadlocks of hung ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnostics.dynamic.collectives.rank_state import OperationKind, RankState, Whereabouts
from diagnostics.dynamic.collectives.rank_state_builder import RankEvidence, rank_states
from diagnostics.dynamic.collectives.wait_for_graph import DeadlockKind, find_deadlock
from diagnostics.record.agent_data import AgentData
from diagnostics.record.record import RunRecord, agent_environment

DEADLINE_S = 120.0  # of a machine on which much else runs; 3 s as a rule
HEAD = """
import os, sys, threading, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}", rank=int(os.environ["RANK"]), world_size=2)
rank, tensor = dist.get_rank(), torch.ones(8)
for _ in range(3):
    dist.all_reduce(tensor)
"""
Hung = Callable[[str, Callable[[tuple[RankState, ...]], bool]], tuple[RankState, ...]]


@pytest.fixture
def hung(tmp_path: Path) -> Hung:
    """Returns hung(body, until): runs it on two ranks and returns where they stand when `until` says so."""
    started: list[subprocess.Popen[bytes]] = []

    def run(body: str, until: Callable[[tuple[RankState, ...]], bool]) -> tuple[RankState, ...]:
        program, record = tmp_path / "job.py", tmp_path / "record"
        record.mkdir()
        program.write_text(HEAD + body)
        for rank in range(2):
            environ = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", **agent_environment(record)}
            started.append(
                subprocess.Popen([sys.executable, program, tmp_path / "store"], env=environ, stderr=subprocess.DEVNULL)
            )
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            found = _standing(record)
            if len(found) == 2 and until(found):
                return found
            time.sleep(0.1)  # files of other processes: nothing tells when they change
        raise AssertionError(f"never came there: {_standing(record)}")

    yield run
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _standing(record: Path) -> tuple[RankState, ...]:
    agents = [agent for agent in RunRecord.load(record).agents if agent.collectives]
    return rank_states([_view(agent) for agent in agents], time.time()) if agents else ()


def _view(agent: AgentData) -> RankEvidence:
    return RankEvidence(
        rank=int(agent.variables["RANK"]), pid=agent.pid, agent=agent, offset_s=agent.started_ns / 1e9, job_started_ns=0
    )


def _both_wait(found: tuple[RankState, ...]) -> bool:
    return all(one.stand is Whereabouts.WAITING and one.reached.get("0", 0) >= 3 for one in found)


def _stuck(found: tuple[RankState, ...]) -> bool:
    return _both_wait(found) and find_deadlock(found) is not None


def test_two_groups_in_another_order_are_proved_from_the_record(hung: Hung) -> None:
    found = hung(
        """
a, b = dist.new_group(), dist.new_group()
for group in ((a, b) if rank else (b, a)):
    dist.all_reduce(tensor, group=group)
""",
        _stuck,
    )
    told = find_deadlock(found)
    assert told is not None
    assert (told.knot, told.ranks) == (DeadlockKind.CROSSED, (0, 1))
    assert [(one.waits[0].op, one.waits[0].slot, one.reached["0"]) for one in found] == [("all_reduce", 0, 3)] * 2
    assert {one.waits[0].path[0].line for one in found} == {12}


def test_what_is_begun_asynchronously_blocks_where_it_is_waited_for(hung: Hung) -> None:
    found = hung(
        """
work = dist.all_reduce(tensor, async_op=True)
if rank:
    dist.recv(tensor, src=0)
else:
    dist.irecv(torch.ones(2), src=1).wait()
""",
        lambda found: _stuck(found) and found[0].waits[0].asynchronous,  # its wait(), not the call that began it
    )
    waits = [one.waits[0] for one in found]
    assert [(wait.kind, wait.op, wait.root, wait.asynchronous) for wait in waits] == [
        (OperationKind.RECV, "irecv", 1, True), (OperationKind.RECV, "recv", 0, False),
    ]  # fmt: skip
    told = find_deadlock(found)
    assert told is not None
    assert (told.knot, [one.reached["0"] for one in found]) == (DeadlockKind.PEERS, [4, 4])


def test_a_rank_that_only_waits_for_its_thread_is_on_its_way_out(hung: Hung) -> None:
    found = hung(
        """
if rank:
    threading.Thread(target=time.sleep, args=(600,)).start()
else:
    dist.barrier()
""",
        lambda found: (
            {one.stand for one in found} == {Whereabouts.WAITING, Whereabouts.LEAVING}
            and {one.reached.get("0") for one in found if one.stand is Whereabouts.WAITING} == {4}  # the barrier's
        ),
    )
    told = find_deadlock(found)
    assert told is not None
    assert (told.knot, told.ranks, [one.rank for one in told.gone]) == (DeadlockKind.GONE, (0,), [1])


def test_a_rank_that_sleeps_may_still_come(hung: Hung) -> None:
    found = hung(
        """
if rank:
    time.sleep(600)
dist.barrier()
""",
        lambda found: found[0].stand is Whereabouts.WAITING and found[0].reached.get("0") == 4,
    )
    assert [one.stand for one in found] == [Whereabouts.WAITING, Whereabouts.OUTSIDE]
    assert find_deadlock(found) is None

"""A rank whose event loop waits: the coroutine that its agent saw says where it stands, and for what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from stalled import BARRIER, at, hung, lib, looks, rank

from diagnostics.core.frame import Frame
from diagnostics.diagnosis.hang import rank_outside_collectives
from diagnostics.dynamic.stall.rank_activity import rank_positions
from diagnostics.record.stacks import AgentStacks, ThreadFrames

LOOP = (lib("selectors.py:468", "EpollSelector.select"), lib("asyncio/base_events.py:607", "BaseEventLoop.run_forever"))


@pytest.mark.parametrize(
    ("below", "words"),
    [
        (lib("asyncio/locks.py:213", "Event.wait"), "waits for an asyncio event that nobody sets"),
        (lib("asyncio/locks.py:15", "_ContextManagerMixin.__aenter__"),
         "waits for an asyncio lock that its holder does not release"),
        (lib("asyncio/queues.py:158", "Queue.get"), "waits for an item of an asyncio queue"),
        (lib("asyncio/queues.py:126", "Queue.put"), "waits for room in an asyncio queue"),
    ],
)  # fmt: skip
def test_a_rank_in_an_event_loop_stands_where_its_coroutine_awaits(tmp_path: Path, below: Frame, words: str) -> None:
    runs, awaits = at(tmp_path, "train.py:9", "main"), at(tmp_path, "rollout.py:4", "Rollouts.batch")
    stands = rank(1, *LOOP, runs, samples=looks(syscall="epoll_wait"))
    thread = ThreadFrames(name="MainThread", native=101, main=True, frames=(*LOOP, runs), awaits=(below, awaits))
    for threads, line, text in (
        (AgentStacks(threads=(thread,)), "rollout.py:4", words),
        (AgentStacks(threads=(replace(thread, awaits=()),)), "train.py:9", "waits in an event loop (asyncio)"),
        (None, "train.py:9", "waits in an event loop (asyncio)"),
    ):
        job = hung(tmp_path, rank(0, *BARRIER), replace(stands, threads=threads))
        reason = next(one.reason for one in rank_positions(job) if one.process.rank == 1)
        assert reason is not None
        found = rank_outside_collectives.match(job)
        assert found is not None
        assert (found.locations[0], reason.text) == (line, text)

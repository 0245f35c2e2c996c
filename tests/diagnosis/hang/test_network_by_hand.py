"""A network that carries nothing any more: what the kernel sent again and again, and what is no such thing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stalled import BACKWARD, at, hung, rank

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.hang import network_carries_nothing
from diagnostics.dynamic.job.job import Job

SOURCE = "for x in data:\n    model(x).backward()\n    q.get()\n"


def connection(here: str, there: str, *, again: Any = 6, queued: Any = 96) -> dict[str, Any]:
    return {"local": f"{here}:40001", "remote": f"{there}:40002", "state": "established",
            "unacknowledged_bytes": queued, "unread_bytes": 0, "sent_again": again}  # fmt: skip


def job(folder: Path, *sockets: list[dict[str, Any]], outside: bool = False, **facts: Any) -> Job:
    """Returns a job whose ranks wait in backward, each with these sockets; the last one stands elsewhere if told so."""
    stacks = [(*BACKWARD, at(folder, "train.py:2")) for _ in sockets]
    if outside:
        stacks[-1] = (at(folder, "train.py:3"),)
    ranks = [rank(number, *stack) for number, stack in enumerate(stacks)]
    captures = {f"proc-{100 + number}.json": json.dumps({"sockets": one}) for number, one in enumerate(sockets)}
    return replace(hung(folder, *ranks, files={"train.py": SOURCE}, **facts), extra=captures)


A, B, C = "10.0.0.1", "10.0.0.2", "10.0.0.3"


def test_a_link_is_named_by_the_end_that_sent_and_surely_where_both_did(tmp_path: Path) -> None:
    one = network_carries_nothing.match(job(tmp_path, [connection(A, B)], []))
    assert one is not None
    assert one.finding.title == (
        f"The network carries nothing between {A} and {B}, as seen from {A}: all ranks wait, and none is to blame"
    )
    assert (one.outcome, one.culprit_ranks, one.finding.confidence) == (JobOutcome.HANG, (), Confidence.LIKELY)
    both = network_carries_nothing.match(job(tmp_path, [connection(A, B)], [connection(B, A)]))
    assert both is not None
    assert both.finding.title == (
        f"The network carries nothing between {A} and {B}: all ranks wait, and none is to blame"
    )
    assert (both.culprit_ranks, both.victim_ranks, both.finding.confidence) == ((), (0, 1), Confidence.CONFIRMED)


def test_the_host_that_all_silent_connections_have_in_common_is_cut_off(tmp_path: Path) -> None:
    found = network_carries_nothing.match(
        job(tmp_path, [connection(A, B)], [connection(B, A), connection(B, C)], [connection(C, B)])
    )
    assert found is not None
    assert found.finding.title == f"The network carries nothing between {B} and {A}, {C}: {B} is cut off, or is down"
    assert (found.culprit_ranks, found.victim_ranks) == ((1,), (0, 2))
    gone = network_carries_nothing.match(job(tmp_path, [connection(A, C)], [connection(B, C)]))
    assert gone is not None
    assert gone.finding.title == f"The network carries nothing between {C} and {A}, {B}: {C} is cut off, or is down"
    assert (gone.culprit_ranks, gone.victim_ranks) == ((), (0, 1))


@pytest.mark.parametrize(
    ("sockets", "said"),
    [
        ([connection(A, B, again=1)], "a packet that was lost once"),
        ([connection(A, B, queued=0)], "all was acknowledged"),
        ([connection("127.0.0.1", "127.0.0.1")], "this machine's own"),
        ([connection(A, A)], "this machine's own, by its address"),
        ([connection(A, B, again=None)], "a record of an earlier doctor"),
        (["no socket", {"local": 7, "remote": None}], "a record from elsewhere"),
    ],
)
def test_a_network_that_answers_is_not_accused(sockets: list[Any], said: str, tmp_path: Path) -> None:
    assert network_carries_nothing.match(job(tmp_path, sockets, [])) is None, said


def test_a_rank_that_stands_elsewhere_or_a_job_that_goes_on_is_no_matter_of_the_network(tmp_path: Path) -> None:
    assert network_carries_nothing.match(job(tmp_path, [connection(A, B)], [], outside=True)) is None
    assert network_carries_nothing.match(job(tmp_path, [connection(A, B)], [], ended_by="itself", stalls=())) is None

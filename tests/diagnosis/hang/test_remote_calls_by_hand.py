"""Remote calls that wait for each other, and jobs in which somebody is left to serve them."""

from __future__ import annotations

from pathlib import Path

from hand_made import frame
from stalled import LIB, TORCH, hung, looks, rank

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.hang import remote_calls_wait
from diagnostics.dynamic.job.job import Job

ASKS = (Frame(file=f"{TORCH}/distributed/rpc/api.py", line=842, function="rpc_sync"),)
WAITS = (Frame(file=f"{TORCH}/futures/__init__.py", line=9, function="Future.wait"),)
RUNS = Frame(file=f"{TORCH}/distributed/rpc/internal.py", line=209, function="_run_function")
LEAVES = (Frame(file=f"{LIB}/threading.py", line=327, function="Condition.wait"),
          Frame(file=f"{TORCH}/distributed/rpc/api.py", line=257, function="_all_gather"))  # fmt: skip
HUB = (*ASKS, frame("hub.py:47", "audit"), frame("hub.py:24", "Hub.push"), RUNS)


def a_run(folder: Path, *served: tuple[Frame, ...], stood: bool = True) -> Job:
    """Returns rank 0, which serves, and rank 1, whose program waits and which serves, too."""
    first = rank(0, *LEAVES, frame("run.py:24", "serve"), threads=served[:1], samples=looks())
    second = rank(1, *ASKS, frame("client.py:39", "train"), threads=served[1:], samples=looks())
    return hung(folder, first, second) if stood else hung(folder, first, second, ended_by="", stalls=())


def test_calls_that_each_wait_for_a_call_are_told_at_the_lines_that_call_back(tmp_path: Path) -> None:
    for inner in (ASKS, WAITS):
        found = remote_calls_wait.match(a_run(tmp_path, HUB, (*inner, frame("client.py:18", "validate"), RUNS)))
        assert found is not None
        assert (found.failure_class, found.outcome, found.culprit_ranks) == ("p2p-deadlock", JobOutcome.HANG, (0, 1))
        assert found.locations == ("hub.py:47", "client.py:18", "hub.py:24", "run.py:24", "client.py:39")
        assert found.finding.confidence is Confidence.LIKELY
        assert found.finding.title == (
            "Rank 0 serves push() and waits in it at hub.py:47, rank 1 serves validate() and waits in it at "
            "client.py:18: each thread that serves remote calls waits for one, which none is left to serve"
        )


def test_nothing_is_told_where_a_served_call_works_nobody_serves_or_the_job_goes_on(tmp_path: Path) -> None:
    works = (frame("client.py:21", "validate"), RUNS)
    waits = (*ASKS, frame("client.py:18", "validate"), RUNS)
    assert remote_calls_wait.match(a_run(tmp_path, HUB, works)) is None
    assert remote_calls_wait.match(a_run(tmp_path)) is None
    assert remote_calls_wait.match(a_run(tmp_path, HUB, waits, stood=False)) is None

"""A failure that one rank told the others of, as torch.distributed.checkpoint does, is that rank's."""

from __future__ import annotations

import threading
from traceback import StackSummary

import pytest
from hand_made import a_job, a_process, raised
from torch.distributed.checkpoint import CheckpointException

from diagnostics.diagnosis.crash import object_cannot_be_pickled, uncaught_exception
from diagnostics.dynamic.failures.root_exception import root_exception
from diagnostics.dynamic.job.attribution import blame
from diagnostics.dynamic.job.job import Job

SITE = "/venv/lib/python3.11/site-packages/torch/distributed/checkpoint"


def gathered(*ranks: int, error: BaseException | None = None) -> str:
    """Returns what torch's exception says whose keys are these ranks."""
    error = error or PermissionError(13, "Permission denied", "ckpt/__1_0.distcp")
    wrapped = (error, StackSummary.from_list([(f"{SITE}/utils.py", 241, "all_reduce", "local_data = map_fun()")]))
    kind = "torch.distributed.checkpoint.api.CheckpointException"
    return f"{kind}: {CheckpointException('write', dict.fromkeys(ranks, wrapped))}"


def job_where_all_raise(text: str) -> Job:
    """Returns a job of three ranks that all raise `text` at the line that saves."""
    places = ("saver.py:24", "train.py:40")
    ranks = [a_process(1 + rank, rank=rank, code=1, raised=(raised(text, *places),)) for rank in range(3)]
    return a_job(*ranks, culprits=blame(ranks)[0])


@pytest.mark.parametrize("failing", [(1,), (0, 2)])
def test_the_ranks_whose_failure_was_gathered_are_the_culprits(failing: tuple[int, ...]) -> None:
    job = job_where_all_raise(gathered(*failing))
    assert [one.rank for one in job.culprits] == list(failing)
    match = uncaught_exception.match(job)
    assert match is not None
    assert (match.culprit_ranks, match.locations[0]) == (failing, "saver.py:24")
    assert match.finding.title.endswith("PermissionError: [Errno 13] Permission denied: 'ckpt/__1_0.distcp'")


def test_all_ranks_are_at_fault_where_the_text_names_none() -> None:
    match = uncaught_exception.match(job_where_all_raise("RuntimeError: no room"))
    assert match is not None
    assert match.culprit_ranks == (0, 1, 2)


def test_a_rank_that_told_of_its_failure_and_went_on_is_still_the_culprit() -> None:
    text = gathered(1)
    job = a_job(a_process(1, rank=0, code=1, raised=(raised(text, "saver.py:24"),)), a_process(2, rank=1, code=0))
    assert [one.rank for one in blame(job.processes)[0]] == [1]
    found = root_exception(job, job.ranks[0])
    assert found is not None
    assert (found.process.rank, found.type) == (1, "PermissionError")


def test_what_could_not_be_pickled_for_a_gathered_failure_is_told_of_its_rank() -> None:
    error = TypeError(f"cannot pickle '{type(threading.Lock()).__name__}' object")
    match = object_cannot_be_pickled.match(job_where_all_raise(gathered(2, error=error)))
    assert match is not None
    assert (match.culprit_ranks, match.locations[0]) == ((2,), "saver.py:24")

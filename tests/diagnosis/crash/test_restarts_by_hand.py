"""Ranks that were started again and look for each other where they were before: what failed at first is told."""

from __future__ import annotations

import hand_made as made
import pytest

from diagnostics.diagnosis.launch import restart_met_old_addresses
from diagnostics.dynamic.job.job import JobProcess

CLOSED = "RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:{}. This is typically caused by a crash."
REFUSED = (
    "RuntimeError: Gloo connectFullMesh failed with [pair.cc:152] timed out connecting: SO_ERROR: Connection refused, "
    "remote=[127.0.0.1]:19334$0"
)


def rank(number: int, restart: int, text: str, place: str, *, code: int = 1, **fields: object) -> JobProcess:
    raised = (made.raised(text, place),) if text else ()
    return made.a_process(
        100 + 10 * restart + number, rank=number, restart=restart, code=code, raised=raised,
        began_s=10.0 * restart, at_s=10.0 * restart + 3 + number, **fields,
    )  # fmt: skip


def say(*processes: JobProcess) -> tuple[object, ...] | None:
    job = made.a_job(*processes, ranks=processes[-2:])
    found = restart_met_old_addresses.match(job)
    if found is None:
        return None
    return found.failure_class, found.culprit_ranks, found.locations, found.finding.title, found.certainty


@pytest.mark.parametrize(
    ("port", "known", "certainty"),
    [(19334, ", where a rank of the start before had been", 2), (5, "", 1)],
)
def test_the_first_failure_is_told_where_the_restart_was_refused(port: int, known: str, certainty: int) -> None:
    found = say(
        rank(1, 0, "KeyError: 'label'", "data.py:7"),
        rank(0, 0, CLOSED.format(port), "train.py:30"),
        rank(0, 1, REFUSED, "train.py:12"),
        rank(1, 1, "", "", code=-15, ended_by="launcher"),
    )
    assert found == (
        "python-exception", (1,), ("data.py:7", "train.py:12"),
        "Rank 1 raised at data.py:7: KeyError: 'label'; the ranks were started again and could not meet: rank 0 was "
        f"refused at port 19334{known}", certainty,
    )  # fmt: skip


def test_of_ranks_that_left_with_a_code_the_restart_is_told() -> None:
    found = say(
        rank(0, 0, "", "", code=11), rank(1, 0, "", "", code=11),
        rank(0, 1, REFUSED, "train.py:12"), rank(1, 1, "", "", code=-15, ended_by="launcher"),
    )  # fmt: skip
    assert found is not None
    assert found[:3] == ("rendezvous-timeout", (0,), ("train.py:12",))
    assert str(found[3]).startswith("Rank 0 ended with exit code 11; the ranks were started again and could not meet")


def test_a_first_start_that_is_refused_and_a_restart_that_failed_otherwise_are_others() -> None:
    assert say(rank(0, 0, REFUSED, "train.py:12"), rank(1, 0, "", "", code=-15, ended_by="launcher")) is None
    assert (
        say(
            rank(1, 0, "KeyError: 'label'", "data.py:7"), rank(0, 0, CLOSED.format(1), "train.py:30"),
            rank(1, 1, "KeyError: 'label'", "data.py:7"), rank(0, 1, CLOSED.format(1), "train.py:30"),
        ) is None
    )  # fmt: skip

"""A rank that raised and waits before anybody is told: in a `finally`, the exit of a `with`, at exit."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest
from deadlocked import call, done, hung, rank

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.hang import collective_not_joined, collectives_disagree
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.job import ExceptionSource, Job

FINALLY = """\
def train(rank):
    for row in rows:
        dist.all_reduce(parse(row))
def parse(row):
    return float(row)
try:
    train(rank)
finally:
    dist.barrier()
"""
WITH = """\
def parse(row):
    return float(row)
class Run:
    def __exit__(self, *error):
        dist.barrier()
with Run() as run:
    for row in rows:
        dist.all_reduce(parse(row))
"""
HANDLED = FINALLY.replace("finally:", "except ValueError:")
AFTER = FINALLY.replace("finally:\n    dist", "finally:\n    print()\ndist")
ERROR = "ValueError: could not convert string to float: 'x'"


def a_job(
    folder: Path,
    source: str,
    waits: tuple[str, ...],
    raised: tuple[str, ...],
    how: ExceptionSource,
    peer: tuple[str, ...],
) -> Job:
    """Rank 1 raised and waits in a barrier; rank 0 in the next all_reduce. Places are lines, innermost first."""

    def places(*told: str) -> tuple[str, ...]:
        return tuple(f"{folder}/train.py:{one}" for one in told)

    agreed = done("all_reduce", 1, *places(*peer))
    zero = rank(0, agreed, call("all_reduce", 2, *places(*peer)))
    error = made.raised(ERROR, *places(*raised), how=how, at_s=0.199)
    one = rank(1, agreed, call("barrier", 2, *places(*waits)), raised=(error,))
    return hung(folder, zero, one, source=source)


def found(job: Job) -> Match:
    match = collective_not_joined.match(job) or collectives_disagree.match(job)
    assert match is not None
    return match


@pytest.mark.parametrize(
    ("source", "waits", "raised", "how", "peer", "line"),
    [
        (FINALLY, ("9",), ("5", "3", "7"), ExceptionSource.HELD, ("3", "7"), 5),
        (WITH, ("5", "6"), ("2", "8"), ExceptionSource.HELD, ("8",), 2),
        (AFTER, ("10",), ("5", "3", "7"), ExceptionSource.UNCAUGHT, ("3", "7"), 5),  # at exit
    ],
)
def test_the_place_that_raised_comes_first_and_the_wait_is_its_consequence(
    tmp_path: Path, source: str, waits: tuple[str, ...], raised: tuple[str, ...], how: ExceptionSource,
    peer: tuple[str, ...], line: int,
) -> None:  # fmt: skip
    match = found(a_job(tmp_path, source, waits, raised, how, peer))
    assert (match.failure_class, match.culprit_ranks) == ("collective-missing", (1,))
    assert (match.locations[0], match.finding.confidence) == (f"train.py:{line}", Confidence.CONFIRMED)
    assert match.finding.title == (
        f"Rank 1 raised {ERROR} at train.py:{line}, of which nobody is told while it waits in barrier(8, float32) at "
        f"train.py:{waits[0]}; rank 0 waits in all_reduce(8, float32) at train.py:{peer[0]}: none of them "
        "can ever go on"
    )
    assert match.finding.fix is not None
    assert match.finding.fix.text.startswith(f"mend what raised at train.py:{line}; ")


@pytest.mark.parametrize(("source", "waits"), [(HANDLED, "9"), (AFTER, "10")])
def test_an_exception_that_was_answered_or_is_over_is_no_longer_held(tmp_path: Path, source: str, waits: str) -> None:
    match = found(a_job(tmp_path, source, (waits,), ("5", "3", "7"), ExceptionSource.HELD, ("3", "7")))
    assert "of which nobody is told" not in match.finding.title

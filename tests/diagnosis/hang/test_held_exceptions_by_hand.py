"""A rank that raised and waits before anybody is told: in a `finally`, the exit of a `with`, at exit."""

from __future__ import annotations

from dataclasses import replace
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
IN_THE_CALL = """\
for step in range(30):
    dist.all_reduce(gradients)
    if step % 10 == 9:
        try:
            dist.all_gather_object(told, stats)
        except Exception as error:
            log.warning("not gathered: %s", error)
"""
ENDED = """\
watch = Thread(target=look)
for batch in batches:
    loss = criterion(batch)
    dist.all_reduce(loss)
"""
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


def test_what_a_call_raised_on_one_rank_and_was_caught_there_parts_it_from_those_that_wait_in_that_call(
    tmp_path: Path,
) -> None:
    lines = [f"{tmp_path}/train.py:{line}" for line in (2, 5)]
    agreed = done("all_reduce", 1, lines[0])
    zero = rank(0, agreed, call("all_gather_object", 2, lines[1]))
    error = made.raised("AttributeError: Can't pickle it", lines[1], how=ExceptionSource.LOGGED, at_s=0.18)
    one = rank(1, agreed, call("all_reduce", 2, lines[0]), raised=(error,))
    match = found(hung(tmp_path, zero, one, source=IN_THE_CALL))
    assert (match.failure_class, match.culprit_ranks) == ("collective-missing", (1,))
    assert match.locations[:2] == ("train.py:6", "train.py:5")
    assert match.finding.title == (
        "Rank 1 caught AttributeError: Can't pickle it and waits in all_reduce(8, float32) at train.py:2; rank 0 waits "
        "in all_gather_object(8, float32) at train.py:5: none of them can ever go on. Their ways part at train.py:6: "
        "except Exception as error:"
    )


def test_what_was_caught_in_the_same_call_before_the_ranks_agreed_again_tells_nothing(tmp_path: Path) -> None:
    lines = [f"{tmp_path}/train.py:{line}" for line in (2, 5)]
    agreed = done("all_reduce", 3, lines[0])
    zero = rank(0, agreed, call("all_gather_object", 4, lines[1]))
    error = made.raised("AttributeError: Can't pickle it", lines[1], how=ExceptionSource.LOGGED, at_s=0.18)
    one = rank(1, agreed, call("all_reduce", 4, lines[0]), raised=(error,))
    assert "caught" not in found(hung(tmp_path, zero, one, source=IN_THE_CALL)).finding.title


def test_a_rank_that_ended_of_an_exception_and_is_kept_alive_by_a_thread_is_told_by_what_it_raised(
    tmp_path: Path,
) -> None:
    lines = [f"{tmp_path}/train.py:{line}" for line in (3, 4)]
    agreed = done("all_reduce", 1, lines[1])
    error = made.raised("IndexError: Target 4 is out of bounds.", lines[0], how=ExceptionSource.UNCAUGHT, at_s=0.18)
    one = rank(1, agreed, raised=(error,))
    assert one.agent is not None
    alive = made.event("alive-at-end", "daemon=0 | watch", f"{tmp_path}/train.py:1", seconds=0.19, sequence=1)
    one = replace(one, agent=replace(one.agent, events=(alive,)))
    match = found(hung(tmp_path, rank(0, agreed, call("all_reduce", 2, lines[1])), one, source=ENDED))
    assert (match.failure_class, match.culprit_ranks) == ("collective-missing", (1,))
    assert match.locations[0] == "train.py:3"
    assert match.finding.title == (
        "Rank 1 raised IndexError: Target 4 is out of bounds. at train.py:3, of which nobody is told while it is "
        "through with its program and only waits for its threads; rank 0 waits in all_reduce(8, float32) at "
        "train.py:4: it can never go on"
    )
    assert match.finding.fix is not None
    assert match.finding.fix.text.startswith("mend what raised at train.py:3; stop the rank's threads in a `finally`")

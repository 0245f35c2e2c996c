"""Who went another way: who broke with its own rounds, went into the guard, or failed where others wait for it."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest
from deadlocked import call, done, hung, rank

from diagnostics.diagnosis.hang import collective_not_joined, collectives_disagree
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.silent import failure_hidden_in_rank
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess, LoadFailure
from diagnostics.dynamic.model.model_divergence import model_difference
from diagnostics.record.agent_data import Construction

REDUCED = """\
for batch in loader:
    values = torch.stack(losses(batch))
    dist.all_reduce(values)
    dist.barrier()
"""


def found(job: Job) -> Match:
    match = collective_not_joined.match(job) or collectives_disagree.match(job)
    assert match is not None
    return match


def rounds(folder: Path, shape: str, *, odd: str | None = None) -> Job:
    """Two ranks that reduced 4 values in three rounds; in the fourth rank 1 hands over `shape` and goes on."""
    line, after = f"{folder}/train.py:3", f"{folder}/train.py:4"
    before = [done("all_reduce", number, line, shape=odd or "4") for number in (1, 2, 3)]
    zero = rank(0, *before, call("all_reduce", 4, line, shape="4"))
    one = rank(1, *before, done("all_reduce", 4, line, shape=shape), call("barrier", 5, after, shape=""))
    return hung(folder, zero, one, source=REDUCED)


def test_a_call_that_came_to_its_end_and_did_not_fit_is_where_they_parted(tmp_path: Path) -> None:
    match = found(rounds(tmp_path, "2"))
    assert (match.failure_class, match.culprit_ranks, match.locations[0]) == (
        "collective-mismatch", (1,), "train.py:3",
    )  # fmt: skip
    assert match.finding.title.startswith("Rank 1 went through all_reduce(2, float32) at train.py:3; ")


def test_where_no_rank_broke_with_its_rounds_nobody_is_chosen_by_them(tmp_path: Path) -> None:
    assert found(rounds(tmp_path, "2", odd="7")).culprit_ranks == (0, 1)


GUARDED = """\
def on_rank_zero(method):
    def wrapper(*args):
        if dist.get_rank() == 0:
            return method(*args)
    return wrapper
def spread():
    dist.all_gather(parts, x)
def mean():
    dist.all_reduce(x)
hooks = [on_rank_zero(spread), mean]
for hook in hooks:
    hook()
"""


def test_of_two_calls_of_one_line_the_rank_in_the_guard_is_to_blame(tmp_path: Path) -> None:
    def places(*lines: str) -> tuple[str, ...]:
        return tuple(f"{tmp_path}/train.py:{line}" for line in lines)

    zero = rank(0, call("all_gather", 1, *places("7", "4", "12")))
    one = rank(1, call("all_reduce", 1, *places("9", "12")))
    match = found(hung(tmp_path, zero, one, source=GUARDED))
    assert match.culprit_ranks == (0,)


EXITS = """\
def close(code):
    os._exit(code)
def main():
    try:
        step(3)
    finally:
        close(0)
main()
"""


def cut_off(folder: Path, text: str) -> Match | None:
    """What is said of a rank that left with 0 from a `finally` while an exception was on its way."""

    def places(*lines: str) -> tuple[str, ...]:
        return tuple(f"{folder}/train.py:{line}" for line in lines)

    raised = made.raised(text, *places("5"), how=ExceptionSource.CAUGHT, sequence=4)
    left = made.event("os._exit", "", *places("2", "7", "8"), sequence=5)
    process = made.a_process(100, rank=0, code=0, raised=(raised,), agent=made.agent(left))
    return failure_hidden_in_rank.match(made.a_job(process, cwd=folder, files={"train.py": EXITS}, code=0))


def test_an_exception_that_an_exit_in_a_finally_cut_off_is_told_unless_it_is_a_peer_that_was_through(
    tmp_path: Path,
) -> None:
    match = cut_off(tmp_path, "KeyError: 3")
    assert match is not None
    assert (match.culprit_ranks, match.locations[0]) == ((0,), "train.py:5")
    assert cut_off(tmp_path, "RuntimeError: [gloo/pair.cc:553] Connection closed by peer [127.0.0.1]:5") is None


def test_what_ended_a_thread_that_was_to_write_a_file_is_told(tmp_path: Path) -> None:
    place = f"{tmp_path}/train.py:2"
    raised = made.raised("TypeError: cannot pickle", place, how=ExceptionSource.THREAD)
    saved = LoadFailure(at_s=2.0, function="torch.save", file="last.pt", error="", path=made.frames(place))
    lost = made.a_process(100, rank=0, code=0, raised=(raised,), loads=(saved,), agent=made.agent())
    loose = made.a_process(100, rank=0, code=0, raised=(raised,), agent=made.agent())
    for process, told in ((lost, True), (loose, False)):
        job = made.a_job(process, cwd=tmp_path, files={"train.py": EXITS}, code=0)
        assert (failure_hidden_in_rank.match(job) is not None) is told


def test_the_call_that_only_one_rank_made_is_where_its_model_became_another(tmp_path: Path) -> None:
    source = (
        "def build(rank):\n    net = Net()\n    net.add('a')\n    if rank == 0:\n        net.add('b')\n    return net\n"
    )

    def places(*lines: int) -> tuple[str, ...]:
        return (f"{tmp_path}/net.py:9", *(f"{tmp_path}/train.py:{line}" for line in lines))

    def process(number: int, *calls: int) -> JobProcess:
        parts = tuple(
            Construction(sequence=line, class_name="Linear", path=made.frames(*places(line)), own=0) for line in calls
        )
        return made.a_process(100 + number, rank=number, agent=made.agent(constructions=parts))

    one, two = process(0, 3, 5), process(1, 3)
    job = made.a_job(one, two, cwd=tmp_path, files={"train.py": source, "net.py": "\n" * 10})
    assert model_difference(job, one, two).locations[:2] == ("train.py:4", "train.py:5")


LONE = """\
def wait():
    dist.barrier()
for step in range(9):
    loss.backward()
    wait()
    if rank == 0 and step == 7:
        dist.barrier()
    wait()
"""


@pytest.mark.parametrize(("alone", "ranks", "line"), [("7", (0,), "train.py:6"), ("2 8", (1,), "train.py:4")])
def test_a_barrier_that_others_answered_from_elsewhere_is_where_they_parted(
    tmp_path: Path, alone: str, ranks: tuple[int, ...], line: str
) -> None:
    def places(lines: str) -> tuple[str, ...]:
        return tuple(f"{tmp_path}/train.py:{one}" for one in lines.split())

    before = [done("barrier", number, *places(("2 8", "2 5")[number % 2]), shape="") for number in range(1, 6)]
    zero = (*before, done("barrier", 6, *places(alone), shape=""), call("barrier", 7, *places("2 8"), shape=""))
    one = (*before, done("barrier", 6, *places("2 8"), shape=""), call("all_reduce", 7, *places("4")))
    match = found(hung(tmp_path, rank(0, *zero), rank(1, *one), source=LONE))
    assert (match.culprit_ranks, match.locations[0]) == (ranks, line)

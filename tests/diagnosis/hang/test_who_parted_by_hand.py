"""Who went another way: who broke with its own rounds, went into the guard, or failed where others wait for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import hand_made as made
import pytest
from deadlocked import call, done, hung, rank
from hung_jobs import STDLIB, TORCH, stack

from diagnostics.diagnosis.hang import collective_not_joined, collectives_disagree
from diagnostics.diagnosis.lies import failure_hidden_in_rank
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess, LoadFailure
from diagnostics.dynamic.model.model_divergence import model_difference
from diagnostics.record.agent_data import Construction, Steps
from diagnostics.record.flight_recorder import FlightEntry

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


EXCHANGES = """\
for batch in loader:
    dist.all_reduce(counts)
    loss(batch).backward()
    dist.all_reduce(shared)
"""


def exchanges(folder: Path, rounds: int) -> Job:
    """Two ranks whose backward passes gathered in some rounds; rank 1 leaves that out in the next."""
    ops = [("all_reduce", "2"), ("all_gather", "3"), ("all_reduce", "4")] * rounds
    before = [done(op, at, f"{folder}/train.py:{line}") for at, (op, line) in enumerate(ops)]
    last = done("all_reduce", len(before), f"{folder}/train.py:2")
    at = len(before) + 1
    zero = rank(0, *before, last, call("all_gather", at, f"{folder}/train.py:3"))
    return hung(folder, zero, rank(1, *before, last, call("all_reduce", at, f"{folder}/train.py:4")), source=EXCHANGES)


@pytest.mark.parametrize(("rounds", "culprits"), [(1, (0, 1)), (3, (1,))])
def test_the_rank_that_left_out_what_it_always_did_is_to_blame(
    rounds: int, culprits: tuple[int, ...], tmp_path: Path
) -> None:
    assert found(exchanges(tmp_path, rounds)).culprit_ranks == culprits


IN_BACKGROUND = """\
def write(plan):
    dist.all_gather_object(plans, plan)
def save(pool, plan):
    pool.submit(write, plan)
    dist.barrier()
"""


def in_background(folder: Path, *, last: str = "barrier") -> Job:
    """Two ranks with two threads that wait; on rank 1 the main thread came second, or to another operation."""
    lines = {"barrier": "5", "all_gather_object": "2", "all_reduce": "5"}
    order = [[("barrier", 0), ("all_gather_object", 9)], [("all_gather_object", 9), (last, 0)]]
    ranks = [
        rank(number, *(
            call(op, at, f"{folder}/train.py:{lines[op]}", shape="", dtype="", thread=thread)
            for at, (op, thread) in enumerate(calls, 3)
        ))
        for number, calls in enumerate(order)
    ]  # fmt: skip
    return hung(folder, *ranks, source=IN_BACKGROUND)


def test_threads_that_come_to_one_group_in_different_orders_are_named_and_no_rank_is_the_odd_one(
    tmp_path: Path,
) -> None:
    match = found(in_background(tmp_path))
    assert (match.failure_class, match.culprit_ranks, match.locations) == (
        "collective-mismatch", (0, 1), ("train.py:5", "train.py:2"),
    )  # fmt: skip
    assert match.finding.title == (
        "Ranks 0, 1 wait in barrier() at train.py:5, and another thread in all_gather_object() at train.py:2: none of "
        "them can ever go on"
    )
    assert match.finding.fix is not None
    assert match.finding.fix.text.startswith("give the thread a process group of its own")


def test_threads_that_made_different_calls_are_no_matter_of_order(tmp_path: Path) -> None:
    fix = found(in_background(tmp_path, last="all_reduce")).finding.fix
    assert fix is not None
    assert not fix.text.startswith("give the thread")


SKIPS_BACKWARD = """\
for batch in loader:
    loss = model(batch)
    try:
        check(loss)
    except ValueError:
        continue
    loss.backward()
"""


def native(number: int, op: str, *places: str) -> JobProcess:
    """Returns a rank whose main thread waits in an operation that C++ began, seen by the flight recorder alone."""
    entry = FlightEntry(
        group="0", counted=4, op=op, sizes=(8,), dtypes="Float", pending=True, created_ns=-(10**10), timeout_s=None
    )
    agreed = done("broadcast", 3, places[-1].rpartition("/")[0] + "/train.py:2")
    return rank(number, agreed, flight=(entry,), stacks=(stack(*places),))


@pytest.mark.parametrize(("forward", "culprits"), [("broadcast", (0,)), ("all_reduce", None)])
def test_two_operations_of_ddp_in_one_slot_part_the_ranks(
    forward: str, culprits: tuple[int, ...] | None, tmp_path: Path
) -> None:
    zero = native(0, forward, f"{TORCH}/nn/parallel/distributed.py:2363:_sync", f"{tmp_path}/train.py:2:<module>")
    one = native(
        1, "all_reduce", f"{TORCH}/autograd/graph.py:979:_engine_run_backward", f"{tmp_path}/train.py:7:<module>"
    )
    match = collective_not_joined.match(hung(tmp_path, zero, one, source=SKIPS_BACKWARD))
    assert (match and (match.culprit_ranks, match.locations[0])) == (culprits and (culprits, "train.py:5"))


def stepped(one: JobProcess, count: int) -> JobProcess:
    """Returns a rank that has made so many optimizer steps, each after a backward pass."""
    assert one.agent is not None
    return replace(one, agent=replace(one.agent, steps=Steps(count=count, backwards=count + 1)))


@pytest.mark.parametrize(("steps", "culprit"), [((6, 5), 0), ((5, 6), 1)])
def test_who_made_a_step_without_the_exchange_that_others_wait_in_went_another_way(
    steps: tuple[int, int], culprit: int, tmp_path: Path
) -> None:
    later = (f"{TORCH}/nn/parallel/distributed.py:2363:_sync", f"{tmp_path}/train.py:2:<module>")
    waits = (f"{TORCH}/autograd/graph.py:979:_engine_run_backward", f"{tmp_path}/train.py:7:<module>")
    ways = [("broadcast", *later), ("all_reduce", *waits)]
    ranks = [stepped(native(n, *ways[n != culprit]), steps[n]) for n in range(2)]
    match = collective_not_joined.match(hung(tmp_path, *ranks, source=SKIPS_BACKWARD))
    assert match is not None
    assert (match.culprit_ranks, match.victim_ranks) == ((culprit,), (1 - culprit,))


FREES = """\
def release():
    dist.barrier()
def fit():
    step()
    dist.all_reduce(shared)
"""


@pytest.mark.parametrize(
    ("below", "line"),
    [
        (f"{STDLIB}/weakref.py:590:finalize.__call__", "train.py:2"),
        (f"{STDLIB}/weakref.py:642:finalize._exitfunc", "train.py:4"),  # at the exit all of them run, in one order
        (f"{STDLIB}/contextlib.py:81:inner", "train.py:4"),
    ],
)
def test_a_collective_in_a_finalizer_is_the_line_to_mend(below: str, line: str, tmp_path: Path) -> None:
    places = [f"{tmp_path}/train.py:2:release", f"{tmp_path}/train.py:4:fit"]
    path = [place.rpartition(":")[0] for place in places]
    one = rank(1, call("barrier", 1, *path, shape="", dtype=""), stacks=(stack(places[0], below, places[1]),))
    match = found(hung(tmp_path, rank(0, call("all_reduce", 1, f"{tmp_path}/train.py:5")), one, source=FREES))
    assert match.locations[0] == line
    assert match.finding.title.endswith("runs when it frees the object") == (line == "train.py:2")


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


DECORATED = """\
def on_rank_zero(method):
    def wrapper(*args):
        if dist.get_rank() == 0:
            return method(*args)
    return wrapper
class Best:
    @on_rank_zero
    def keep(self):
        dist.all_gather(parts, x)
for epoch in range(3):
    dist.all_reduce(x)
    for hook in hooks:
        hook.keep()
    dist.barrier()
"""


def test_the_rank_that_a_decorator_lets_in_is_to_blame_though_the_other_one_left_the_loop(tmp_path: Path) -> None:
    def places(*lines: str) -> tuple[str, ...]:
        return tuple(f"{tmp_path}/train.py:{line}" for line in lines)

    agreed = done("all_reduce", 1, *places("11"))
    zero = rank(0, agreed, call("all_gather", 2, *places("9", "4", "13")))
    one = rank(1, agreed, call("barrier", 2, *places("14"), shape="", dtype=""))
    match = found(hung(tmp_path, zero, one, source=DECORATED))
    assert (match.culprit_ranks, match.locations[0] in ("train.py:3", "train.py:7")) == ((0,), True)


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


COUNTS_BOXES = """\
for batch in loader:
    if len(boxes) > 0:
        dist.all_reduce(count, group=loss)
    loss(batch).backward()
    optimizer.step()
"""


def trained(one: JobProcess, backward_s: float) -> JobProcess:
    """Returns a rank that ended its fifth round at 0.58 s, and entered its latest backward pass at that time."""
    assert one.agent is not None
    steps = Steps(
        count=5, first_s=0.18, last_s=0.58, durations_s=(0.1,) * 4, backwards=6, backward_entered_s=backward_s
    )
    both = replace(one.agent.groups[0], group="1")
    return replace(one, agent=replace(one.agent, steps=steps, groups=(*one.agent.groups, both)))


@pytest.mark.parametrize(
    ("backward_s", "sparse", "culprits"), [(0.56, False, (1,)), (0.46, False, (0, 1)), (0.56, True, (0, 1))]
)
def test_who_leaves_out_a_call_of_each_round_before_went_another_way(
    backward_s: float, sparse: bool, culprits: tuple[int, ...], tmp_path: Path
) -> None:
    line, backward = f"{tmp_path}/train.py:3", f"{tmp_path}/train.py:4:<module>"
    before = [done("all_reduce", n, line, group="1") for n in range(1, 6) if not (sparse and n == 3)]
    entry = FlightEntry(
        group="0",
        counted=5,
        op="all_reduce",
        sizes=(8,),
        dtypes="Float",
        pending=True,
        created_ns=-(10**10),
        timeout_s=None,
    )
    waits = stack(f"{TORCH}/autograd/graph.py:979:_engine_run_backward", backward)
    zero = trained(rank(0, *before, call("all_reduce", 6, line, group="1")), backward_s)
    one = trained(rank(1, *before, flight=(entry,), stacks=(waits,)), 0.6)
    match = found(hung(tmp_path, zero, one, source=COUNTS_BOXES))
    assert (match.culprit_ranks, match.locations[0]) == (culprits, "train.py:2")

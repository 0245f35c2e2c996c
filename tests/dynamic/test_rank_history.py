"""What a rank has always done at a place, from its own calls alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock, DeadlockKind
from diagnostics.dynamic.divergence.rank_history import breaks_history, partition_by_group, switches_group
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import CollectiveCall, GroupProgress
from tests.hand_made import a_job, a_process, agent


def call(number: int, op: str, line: int, *, group: str = "0", thread: int = 0) -> CollectiveCall:
    frame = Frame(file="/job/train.py", line=line, function="main")
    return CollectiveCall(
        sequence=number, number=number, op=op, group=group, shape="", dtype="", root=None, path=(frame,),
        entered_s=float(number), left_s=number + 0.5, thread=thread,
    )  # fmt: skip


def calls(*made: tuple[str, int]) -> list[CollectiveCall]:
    return [call(number, op, line) for number, (op, line) in enumerate(made)]


SEND, RECV, TAKE = ("send", 5), ("recv", 6), ("recv", 9)


def test_a_worker_that_did_not_send_this_time_breaks_with_its_rounds() -> None:
    found = breaks_history(calls(RECV, SEND, RECV, SEND, RECV, RECV))
    assert found is not None
    assert (found.before.number, found.usual.path[0].line, found.now.number) == (4, 5, 5)


def test_a_worker_that_waits_where_it_always_waits_breaks_with_nothing() -> None:
    assert breaks_history(calls(RECV, SEND, RECV, SEND, RECV, SEND, RECV)) is None


def test_a_server_that_receives_from_several_breaks_with_nothing() -> None:
    assert breaks_history(calls(TAKE, TAKE, SEND, TAKE, TAKE, SEND, TAKE, TAKE)) is None


def test_one_round_is_no_habit() -> None:
    assert breaks_history(calls(RECV, SEND, RECV, RECV)) is None


def test_what_followed_in_more_than_one_way_is_no_habit() -> None:
    assert breaks_history(calls(RECV, SEND, RECV, TAKE, RECV, SEND, RECV, RECV)) is None


def test_a_place_that_calls_in_a_group_for_the_first_time_is_seen() -> None:
    made = [call(number, "all_reduce", 7, group="pair") for number in range(3)]
    assert switches_group([*made, call(3, "all_reduce", 7, group="world")])
    assert not switches_group([*made, call(3, "all_reduce", 7, group="pair")])
    assert not switches_group([call(0, "all_reduce", 7, group="pair"), call(1, "all_reduce", 7, group="world")])


def one_of(rank: int, *made: tuple[str, int, str]) -> tuple[JobProcess, RankState]:
    """Returns a rank of two chassis of two, after (operation, line, group) calls; it waits in the last of them."""
    numbers: Counter[str] = Counter()
    recorded = []
    for op, line, group in made:
        recorded.append(replace(call(len(recorded), op, line, group=group), number=numbers[group]))
        numbers[group] += 1
    recorded[-1] = replace(recorded[-1], left_s=None)
    pair = (0, 1) if rank < 2 else (2, 3)
    groups = tuple(
        GroupProgress(group=name, ranks=ranks, calls=numbers[name], rolling_hash=0)
        for name, ranks in (("world", (0, 1, 2, 3)), ("pair", pair))
    )
    last = recorded[-1]
    wait = PendingOperation(
        kind=OperationKind.COLLECTIVE, op=last.op, group=last.group, ranks=groups[last.group == "pair"].ranks,
        slot=last.number, path=last.path,
    )  # fmt: skip
    state = RankState(rank=rank, pid=rank, at_s=99.0, stand=Whereabouts.WAITING, waits=(wait,), reached=numbers)
    told = agent(pid=rank, collectives=tuple(recorded), groups=groups)
    return a_process(rank, rank=rank, agent=told), state


def job_of(*ranks: tuple[JobProcess, RankState]) -> tuple[Job, Deadlock]:
    states = tuple(state for _, state in ranks)
    return a_job(*(process for process, _ in ranks)), Deadlock(
        knot=DeadlockKind.CROSSED, ranks=tuple(range(len(ranks))), positions=states
    )


SUM, SHARE, FENCE = ("all_reduce", 3, "pair"), ("broadcast", 7, "pair"), ("barrier", 5, "world")


def test_heads_of_groups_that_pass_by_what_their_members_wait_in_are_the_odd_ones() -> None:
    head, member = (SUM, FENCE), (SUM, SHARE)
    found = partition_by_group(*job_of(one_of(0, *head), one_of(1, *member), one_of(2, *head), one_of(3, *member)))
    assert found is not None
    assert (found.parting.here, found.parting.there) == ((0, 2), (1, 3))
    places = [found.parting.agreed, found.parting.here_at, found.parting.there_at]
    assert [(place.op, place.path[0].line) for place in places if place is not None] == [
        ("all_reduce", 3), ("barrier", 5), ("broadcast", 7),
    ]  # fmt: skip


def test_ranks_that_all_wait_for_the_whole_job_passed_no_group_by() -> None:
    later = ("all_reduce", 9, "world")
    ranks = [one_of(rank, SUM, FENCE if rank else later) for rank in range(4)]
    assert partition_by_group(*job_of(*ranks)) is None

"""What a rank has always done at a place, from its own calls alone."""

from __future__ import annotations

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.rank_history import breaks_history, switches_group
from diagnostics.record.agent_data import CollectiveCall


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

"""Deadlocks proved over tables of where ranks stand, and what must never be called one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.collectives.wait_for_graph import DeadlockKind, find_deadlock

WORLD = (0, 1)


def waits(
    op: str = "all_reduce", slot: int | None = 7, *, ranks: tuple[int, ...] = WORLD, group: str = "0", **fields: Any
) -> PendingOperation:
    kinds = {
        "send": OperationKind.SEND,
        "recv": OperationKind.RECV,
        "store.wait": OperationKind.STORE,
        "destroy_process_group": OperationKind.DESTROY,
    }
    known = {"shape": "8" if op == "all_reduce" else "", "dtype": "float32" if op == "all_reduce" else ""}
    return PendingOperation(
        kind=kinds.get(op, OperationKind.COLLECTIVE), op=op, group=group, ranks=ranks, slot=slot, **{**known, **fields}
    )


def at(
    rank: int,
    *told: PendingOperation,
    stand: Whereabouts | None = None,
    reached: Mapping[str, int] | None = None,
    **fields: Any,
) -> RankState:
    own = {wait.group: wait.slot + 1 for wait in told if wait.slot is not None}
    stand = stand or (Whereabouts.WAITING if told else Whereabouts.OUTSIDE)
    return RankState(
        rank=rank, pid=100 + rank, at_s=9.0, stand=stand, waits=told, reached={**own, **(reached or {})}, **fields
    )


def knot(*positions: RankState) -> tuple[DeadlockKind, tuple[int, ...]] | None:
    found = find_deadlock(positions)
    return (found.knot, found.ranks) if found is not None else None


OF_DDP = waits("", ranks=(), native=True, recorded="all_reduce(20, Float)")
PROVED: dict[str, tuple[tuple[RankState, ...], DeadlockKind]] = {
    "another operation in one slot": ((at(0, waits()), at(1, waits("barrier"))), DeadlockKind.MISMATCH),
    "another size": ((at(0, waits()), at(1, waits(shape="9"))), DeadlockKind.MISMATCH),
    "another type": ((at(0, waits()), at(1, waits(dtype="float64"))), DeadlockKind.MISMATCH),
    "another root": ((at(0, waits("broadcast", root=1)), at(1, waits("broadcast", root=0))), DeadlockKind.MISMATCH),
    "two groups in another order": (
        (at(0, waits(slot=3, group="a")), at(1, waits(slot=5, group="b"))),
        DeadlockKind.CROSSED,
    ),
    "one slot behind the other": (
        (at(0, waits(slot=7)), at(1, waits("barrier", slot=8), passed={("0", 7): waits("broadcast", root=1)})),
        DeadlockKind.CROSSED,
    ),
    "a rank that has ended": ((at(0, waits()), at(1, stand=Whereabouts.ENDED)), DeadlockKind.GONE),
    "a rank that waits for its threads": ((at(0, waits()), at(1, stand=Whereabouts.LEAVING)), DeadlockKind.GONE),
    "a rank that destroys its group": (
        (at(0, waits()), at(1, waits("destroy_process_group", None))),
        DeadlockKind.GONE,
    ),
    "both receive": ((at(0, waits("recv", None, root=1)), at(1, waits("recv", None, root=0))), DeadlockKind.PEERS),
    "both send": ((at(0, waits("send", None, root=1)), at(1, waits("send", None, root=0))), DeadlockKind.PEERS),
    "a receive against a collective": ((at(0, waits("recv", None, root=1)), at(1, waits())), DeadlockKind.CROSSED),
    "a group that one of two makes": (
        (at(0, waits("new_group", 4, group="new_group")), at(1, waits("barrier"))),
        DeadlockKind.NEW_GROUP,
    ),
    "a key that nobody sets": (
        (at(0, waits("store.wait", None)), at(1, waits("store.wait", None))),
        DeadlockKind.STORE,
    ),
    "a key that only a waiting rank could set": (
        (at(0, waits("store.wait", None)), at(1, waits())),
        DeadlockKind.CROSSED,
    ),
    "a rank that has ended, by C++ that names no ranks": (
        (at(0, OF_DDP), at(1, OF_DDP), at(2, stand=Whereabouts.ENDED)),
        DeadlockKind.GONE,
    ),
    "C++ against another call by the recorders": (
        (
            at(0, waits("", native=True, recorded="all_reduce(20, Float)")),
            at(1, waits("barrier", recorded="barrier(, )")),
        ),
        DeadlockKind.MISMATCH,
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_what_can_never_go_on_is_proved(name: str) -> None:
    positions, expected = PROVED[name]
    if expected is DeadlockKind.PEERS or name.startswith("a receive"):
        positions = tuple(_begun(one) for one in positions)
    found = find_deadlock(positions)
    assert found is not None, name
    blocked = [one for one in positions if one.wait is not None and one.wait.kind is not OperationKind.DESTROY]
    assert (found.knot, found.ranks) == (expected, tuple(one.rank for one in blocked))


THREE = (0, 1, 2)
TO_FIRST = waits("reduce", 0, ranks=THREE, root=0, recorded="reduce(3, Double)")
IN_ANOTHER_CALL = at(0, waits("", 0, ranks=THREE, native=True, recorded="all_gather(1, Long)"))
BOTH = {("0", OperationKind.SEND, 1): 1, ("0", OperationKind.RECV, 0): 1}


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ((at(0, waits("send", None, root=1), exchanged=None), at(1, waits(), exchanged=None)), DeadlockKind.CROSSED),
        (
            (at(0, waits("send", None, root=1), exchanged=BOTH), at(1, waits("recv", None, root=0), exchanged=BOTH)),
            DeadlockKind.PEERS,
        ),
        ((at(0, waits("send", None, root=1), exchanged=None), at(1, stand=Whereabouts.OUTSIDE)), None),
        ((IN_ANOTHER_CALL, at(1, TO_FIRST), at(2, TO_FIRST)), DeadlockKind.MISMATCH),
        ((at(0, stand=Whereabouts.OUTSIDE), at(1, TO_FIRST), at(2, TO_FIRST)), None),
    ],
)
def test_a_message_that_may_be_under_way_is_no_proof_and_is_presumed_lost_where_asked(
    positions: tuple[RankState, ...], expected: DeadlockKind | None
) -> None:
    assert find_deadlock(positions) is None
    found = find_deadlock(positions, presumed=True)
    assert (found.knot if found is not None else None) is expected
    assert found is None or found.presumed


def _begun(one: RankState) -> RankState:
    wait = one.wait
    assert wait is not None
    told = {("0", wait.kind, wait.root): 1} if wait.root is not None else {}
    return at(one.rank, wait, exchanged=told)


HEALTHY: dict[str, tuple[RankState, ...]] = {
    "the last one is still outside": (at(0, waits()), at(1)),
    "nothing is known of the other": (at(0, waits()), at(1, stand=Whereabouts.UNKNOWN)),
    "the other was never seen": (at(0, waits()), at(1, stand=Whereabouts.ABSENT)),
    "the other is not in the table": (at(0, waits()),),
    "all are there: a slow network": (at(0, waits()), at(1, waits())),
    "all are there by C++, which names no ranks": (at(0, OF_DDP), at(1, OF_DDP)),
    "the other has been there and ended": (at(0, waits()), at(1, stand=Whereabouts.ENDED, reached={"0": 8})),
    "the root of a broadcast is outside, others ended": (
        at(0),
        at(1, waits("broadcast", root=0, ranks=(0, 1, 2))),
        at(2, stand=Whereabouts.ENDED),
    ),
    "a receive whose bytes are under way": (
        at(0, waits("recv", None, root=1), exchanged={("0", OperationKind.RECV, 1): 1}),
        at(
            1, waits("recv", None, root=0), exchanged={("0", OperationKind.RECV, 0): 1, ("0", OperationKind.SEND, 0): 1}
        ),
    ),
    "sends that nobody counted": (
        at(0, waits("recv", None, root=1), exchanged=None),
        at(1, waits("recv", None, root=0), exchanged=None),
    ),
    "batches of sends and receives": (
        at(
            0,
            PendingOperation(
                kind=OperationKind.RECV, op="batch_isend_irecv", group="0", ranks=WORLD, slot=None, root=1
            ),
            exchanged=None,
        ),
        at(
            1,
            PendingOperation(
                kind=OperationKind.RECV, op="batch_isend_irecv", group="0", ranks=WORLD, slot=None, root=0
            ),
            exchanged=None,
        ),
    ),
    "a thread of the other may still come": (
        at(0, waits()),
        at(1, stand=Whereabouts.LEAVING, open_groups=frozenset({"0"})),
    ),
    "a thread of a waiting rank may go on": (
        at(0, waits(slot=3, group="a")),
        at(1, waits(slot=5, group="b"), waits(slot=3, group="a")),
    ),
    "two names of one operation": (at(0, waits("all_gather", shape="4")), at(1, waits("all_gather_into_tensor"))),
    "alike by the recorders": (
        at(0, waits("", native=True, recorded="all_reduce(8, Float)")),
        at(1, waits(recorded="all_reduce(8, Float)")),
    ),
    "gathered sizes may differ": (at(0, waits("all_gather", shape="4")), at(1, waits("all_gather", shape="5"))),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_what_may_go_on_is_not_called_a_deadlock(name: str) -> None:
    assert knot(*HEALTHY[name]) is None


def test_ranks_that_wait_for_deadlocked_ones_are_deadlocked_too() -> None:
    world = (0, 1, 2)
    found = knot(
        at(0, waits(slot=3, group="a", ranks=world)),
        at(1, waits(slot=5, group="b", ranks=(1, 2))),
        at(2, waits(slot=9, group="c", ranks=(0, 2))),
    )
    assert found == (DeadlockKind.CROSSED, (0, 1, 2))


def test_a_pair_can_be_deadlocked_while_others_go_on() -> None:
    found = knot(at(0, waits()), at(1, waits("barrier")), at(2), at(3, waits(ranks=(2, 3), group="b")))
    assert found == (DeadlockKind.MISMATCH, (0, 1))


def test_a_rank_that_only_waits_for_those_of_a_knot_is_not_of_it() -> None:
    halves = [
        at(rank, waits("send", None, root=1 - rank, ranks=THREE), exchanged={("0", OperationKind.SEND, 1 - rank): 1})
        for rank in (0, 1)
    ]
    assert knot(*halves, at(2, waits("barrier", ranks=THREE))) == (DeadlockKind.PEERS, (0, 1))
    behind = [at(rank, waits(slot=2, ranks=(rank, rank - 2), group="d")) for rank in (2, 3)]
    crossed = [at(0, waits(slot=3, group="a")), at(1, waits(slot=5, group="b"))]
    assert knot(*crossed, *behind) == (DeadlockKind.CROSSED, (0, 1))


def test_ranks_of_one_collective_stay_together_where_the_missing_one_waits_for_them() -> None:
    early = [at(rank, waits(ranks=THREE)) for rank in (1, 2)]
    assert knot(at(0, waits("barrier", 4, ranks=THREE, group="a")), *early) == (DeadlockKind.CROSSED, THREE)


def test_a_ring_of_sends_is_a_deadlock() -> None:
    ring = [
        at(
            rank,
            waits("send", None, root=(rank + 1) % 4, ranks=(0, 1, 2, 3)),
            exchanged={("0", OperationKind.SEND, (rank + 1) % 4): 1},
        )
        for rank in range(4)
    ]
    assert knot(*ring) == (DeadlockKind.PEERS, (0, 1, 2, 3))


def test_the_ranks_that_disagree_are_named_with_what_differs() -> None:
    three = (0, 1, 2)
    found = find_deadlock((at(0, waits(ranks=three)), at(1, waits(ranks=three)), at(2, waits(ranks=three, shape="9"))))
    assert found is not None
    assert [(one.one, one.other, one.what) for one in found.disagreements] == [(0, 2, "size")]


def test_a_thread_that_may_still_make_the_call_is_waited_for() -> None:
    crossed = at(0, waits(slot=3, group="a")), at(1, waits(slot=5, group="b"), threads_may_call=True)
    assert knot(*crossed) is None
    assert knot(at(0, waits()), at(1, stand=Whereabouts.LEAVING, threads_may_call=True)) is None


def test_whoever_may_set_the_key_is_waited_for() -> None:
    first, second = at(0, waits("store.wait", None)), at(1, waits("store.wait", None), threads_may_set=True)
    assert knot(first, second) is None
    assert knot(at(0, waits()), at(1, waits("barrier"), threads_may_set=True)) == (DeadlockKind.MISMATCH, WORLD)

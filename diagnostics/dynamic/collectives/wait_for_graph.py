"""Proves that ranks wait for ever: `find_deadlock(positions)` over where each of them stands. Pure.

A rank that is not blocked may do anything. A blocked one may go on if what it waits for may still happen: each rank
it needs has been there, is there with the same call, or may go on itself. Those that are left when nothing more can
go on are deadlocked, whatever the time. Ranks that have ended, are on their way out or are being destroyed never act.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnostics.agent.shared import operations
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP, mismatch
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts


class DeadlockKind(StrEnum):
    """What holds the ranks of a deadlock, the plainest reason first."""

    GONE = "gone"  # a rank that the others need has ended or is on its way out
    MISMATCH = "mismatch"  # different calls in one slot of one group
    PEERS = "peers"  # sends and receives that wait for each other
    NEW_GROUP = "new-group"  # some ranks make a group that others do not make
    STORE = "store"  # a key that nobody sets
    CROSSED = "crossed"  # they wait in different groups, or in different places of one


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveMismatch:
    """Two ranks in one slot of one group with calls that do not fit together; `what` differs: "operation", "size"."""

    one: int
    other: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlock:
    """Ranks that wait for ever. `positions` are theirs, by rank; `gone` those of ranks that they need in vain."""

    knot: DeadlockKind
    ranks: tuple[int, ...]
    positions: tuple[RankState, ...]
    gone: tuple[RankState, ...] = ()
    disagreements: tuple[CollectiveMismatch, ...] = ()
    began_s: float = 0.0  # when the last of them began to wait
    presumed: bool = False  # messages may be under way, but for too long


_NEVER_ACTS = (Whereabouts.ENDED, Whereabouts.LEAVING)
DEFAULT_GROUP = ("", "0", "default_pg")


@dataclass(slots=True)
class _Node:
    """What some ranks wait for together: all of `needs`, or any one of them."""

    waiters: list[int]
    needs: set[int]
    any_of: bool = False
    group: str = ""
    store: bool = False  # a key, which any process that knows the store may set
    released: bool = False


def find_deadlock(positions: Sequence[RankState], *, presumed: bool = False) -> Deadlock | None:
    """Returns the ranks that can never go on, None where that is not certain of any. Takes O(ranks + waits).

    `presumed` is for ranks that stood still: a message that might be under way would have arrived, and both halves of
    one that wait for each other do not fit, by their tags or sizes. That is no proof.
    """
    by_rank = {one.rank: one for one in positions}
    nodes = list(_nodes(positions, by_rank, presumed=presumed))
    stuck = _fixpoint(positions, nodes)
    if not stuck:
        return None
    needed = {rank for node in nodes if stuck & set(node.waiters) for rank in node.needs}
    gone = tuple(one for one in positions if one.rank in needed - stuck and _never_acts(one))
    core = stuck if gone else _core(nodes, stuck)
    found = tuple(one for one in positions if one.rank in core)
    disagreements = tuple(_disagreements(found))
    return Deadlock(
        knot=_knot(found, gone, disagreements),
        ranks=tuple(one.rank for one in found),
        positions=found,
        gone=gone,
        disagreements=disagreements,
        began_s=max(one.waits[0].since_s for one in found),
        presumed=presumed,
    )


def _never_acts(one: RankState) -> bool:
    """Whether its main thread makes no call any more that another rank could wait for."""
    wait = one.wait if len(one.waits) == 1 else None
    ends_all = wait is not None and wait.kind is OperationKind.DESTROY and wait.group in DEFAULT_GROUP
    return one.stand in _NEVER_ACTS or ends_all


def _fixpoint(positions: Sequence[RankState], nodes: Sequence[_Node]) -> set[int]:
    """Returns the blocked ranks none of whose threads can go on."""
    blocked = {rank for node in nodes for rank in node.waiters}
    free = deque(one.rank for one in positions if one.rank not in blocked and not _never_acts(one))
    open_groups = {one.rank: one.open_groups for one in positions if one.open_groups}
    may_call = {one.rank for one in positions if one.threads_may_call}
    may_set = {one.rank for one in positions if one.threads_may_set} | may_call
    wanted_by: dict[int, list[_Node]] = defaultdict(list)
    left: dict[int, int] = {}
    unknown = {rank for node in nodes for rank in node.needs} - {one.rank for one in positions}
    acts = set(free) | unknown

    def release(node: _Node) -> None:
        if not node.released:
            node.released = True
            for rank in node.waiters:
                if rank not in acts:
                    acts.add(rank)
                    free.append(rank)

    for node in nodes:
        others = may_set if node.store else may_call
        needs = {
            rank
            for rank in node.needs
            if rank not in unknown and rank not in others and node.group not in open_groups.get(rank, ())
        }
        left[id(node)] = len(needs)
        if (node.any_of and len(needs) < len(node.needs)) or not needs:
            release(node)
            continue
        if node.store and others & set(node.waiters):  # another thread of its own may set it
            release(node)
            continue
        for rank in needs:
            wanted_by[rank].append(node)
    while free:
        for node in wanted_by[free.popleft()]:
            left[id(node)] -= 1
            if node.any_of or not left[id(node)]:
                release(node)
    return blocked - acts


def _core(nodes: Sequence[_Node], stuck: set[int]) -> set[int]:
    """Returns the blocked ranks for which others wait in turn: who only waits for them has no part in the knot."""
    needs: dict[int, set[int]] = defaultdict(set)
    for node in nodes:
        for rank in stuck.intersection(node.waiters):
            needs[rank] |= stuck & node.needs - {rank}
    wanted = Counter(rank for several in needs.values() for rank in several)
    core, idle = set(stuck), deque(rank for rank in stuck if not wanted[rank])
    while idle:
        rank = idle.popleft()
        core.discard(rank)
        for other in needs[rank]:
            wanted[other] -= 1
            if not wanted[other]:
                idle.append(other)
    return core or stuck


def _nodes(positions: Sequence[RankState], by_rank: dict[int, RankState], *, presumed: bool) -> Iterator[_Node]:
    """Yields what the blocked ranks wait for; those that wait for the same thing share one."""
    together: dict[tuple[str, int], list[tuple[RankState, PendingOperation]]] = defaultdict(list)
    everybody = tuple(by_rank)
    for one in positions:
        if one.stand is Whereabouts.WAITING and not _never_acts(one):
            for told in one.waits:
                unsaid = not told.ranks and told.group in DEFAULT_GROUP  # by C++, which names no ranks
                wait = replace(told, ranks=everybody) if unsaid else told
                if wait.kind is OperationKind.COLLECTIVE and wait.slot is not None and wait.ranks:
                    together[wait.group, wait.slot].append((one, wait))
                else:
                    yield _lonely(one, wait, by_rank, presumed=presumed)
    for (group, slot), waiting in together.items():
        yield from _collective(group, slot, waiting, by_rank, presumed=presumed)


def _lonely(one: RankState, wait: PendingOperation, by_rank: dict[int, RankState], *, presumed: bool) -> _Node:
    """What a send, a receive, a store's key or a call without a number waits for."""
    others = set(wait.ranks or by_rank) - {one.rank}
    if (
        wait.kind in (OperationKind.SEND, OperationKind.RECV)
        and wait.op not in operations.BATCHES
        and wait.root is not None
    ):
        on_its_way = not presumed and _on_its_way(one, wait, by_rank.get(wait.root))
        return _Node(waiters=[one.rank], needs=set() if on_its_way else {wait.root}, group=wait.group)
    if wait.kind is OperationKind.STORE:
        return _Node(waiters=[one.rank], needs=set(by_rank) - {one.rank}, any_of=True, store=True)
    if wait.kind in (OperationKind.SEND, OperationKind.RECV):
        loose = not presumed and any(_may_send_anything(by_rank.get(rank), wait.group) for rank in others)
        return _Node(waiters=[one.rank], needs=set() if loose else others, any_of=True, group=wait.group)
    if wait.kind is OperationKind.COLLECTIVE:
        # Its slot is not known: each of the others may have been there. Only if all of them are gone it is certain.
        return _Node(waiters=[one.rank], needs=others, any_of=True, group=wait.group)
    return _Node(waiters=[one.rank], needs=set())


def _on_its_way(one: RankState, wait: PendingOperation, peer: RankState | None) -> bool:
    """Whether the peer has begun its half, so that bytes may be under way; also where that is not known."""
    if peer is None or one.exchanged is None or peer.exchanged is None:
        return True
    half = OperationKind.RECV if wait.kind is OperationKind.SEND else OperationKind.SEND
    begun = one.exchanged.get((wait.group, wait.kind, peer.rank), 0)
    return peer.exchanged.get((wait.group, half, one.rank), 0) >= begun


def _may_send_anything(peer: RankState | None, group: str) -> bool:
    """Whether sends of the peer may be under way, to whomever: then nothing is certain."""
    if peer is None or peer.exchanged is None:
        return True
    return any(place == group and kind is OperationKind.SEND for place, kind, _ in peer.exchanged)


def _collective(
    group: str,
    slot: int,
    waiting: Sequence[tuple[RankState, PendingOperation]],
    by_rank: dict[int, RankState],
    *,
    presumed: bool,
) -> Iterator[_Node]:
    """Yields what the ranks in one slot of one group wait for: those with calls that fit together as one."""
    parties: list[list[tuple[RankState, PendingOperation]]] = []
    for one, wait in waiting:
        party = next((party for party in parties if not differ(party[0][1], wait)), None)
        if party is None:
            parties.append([(one, wait)])
        else:
            party.append((one, wait))
    for party in parties:
        there = {one.rank for one, _ in party}
        wait = party[0][1]
        missing = {rank for rank in set(wait.ranks) - there if not _has_been(by_rank.get(rank), group, slot, wait)}
        symmetric = [one.rank for one, own in party if not _one_sided(own)]
        if symmetric:
            yield _Node(waiters=symmetric, needs=missing, group=group)
        for one, own in party:
            if _one_sided(own):
                yield _rooted(one.rank, own, missing, group, under_way=not presumed and len(there) > 1)


def _one_sided(wait: PendingOperation) -> bool:
    """Whether not every rank needs every other one in this call."""
    return wait.op in operations.NEED_ROOT or wait.op in operations.NEED_OTHERS or wait.op in operations.MONITORED


def _rooted(rank: int, wait: PendingOperation, missing: set[int], group: str, *, under_way: bool) -> _Node:
    """What one rank of a call with a root waits for. `under_way`: parts of others may still be on their way to it."""
    root = wait.ranks[0] if wait.op in operations.MONITORED and wait.ranks else wait.root
    if root is None:
        return _Node(waiters=[rank], needs=set())
    if rank == root and wait.op not in operations.NEED_ROOT:
        return _Node(waiters=[rank], needs=missing, group=group)
    if rank != root and wait.op not in operations.NEED_OTHERS:
        return _Node(waiters=[rank], needs={root} & missing, group=group)
    # It hands its part over; that it still waits can be the fault of any rank that is not there yet.
    return _Node(waiters=[rank], needs=set() if under_way else missing, any_of=True, group=group)


def _has_been(one: RankState | None, group: str, slot: int, wait: PendingOperation) -> bool:
    """Whether a rank has already made its call in that slot, one that fits, as far as it is known."""
    if one is None or one.reached.get(group, 0) <= slot:
        return False
    if any(own.group == group and own.slot == slot for own in one.waits):
        return False  # it is there with another call
    passed = one.passed.get((group, slot))
    return passed is None or not differ(passed, wait)


def differ(one: PendingOperation, other: PendingOperation) -> str:
    """Returns in what two waits in one slot differ that must be equal, "" for nothing or nothing that is known."""
    if one.recorded and other.recorded and (one.native or other.native):
        names = one.recorded.partition("(")[0], other.recorded.partition("(")[0]
        if names[0] == names[1] and names[0] in operations.UNLIKE_SIZES:
            return ""
        return "" if one.recorded == other.recorded else "operation" if names[0] != names[1] else "size"
    if not one.op or not other.op:
        return ""
    return mismatch((one.op, one.shape, one.dtype, one.root), (other.op, other.shape, other.dtype, other.root))


def _disagreements(found: Sequence[RankState]) -> Iterator[CollectiveMismatch]:
    """Yields pairs of ranks in one slot with calls that do not fit: for each party against the first one."""
    seen: dict[tuple[str, int], list[tuple[int, PendingOperation]]] = defaultdict(list)
    for one in found:
        for wait in one.waits:
            if wait.kind is OperationKind.COLLECTIVE and wait.slot is not None:
                parties = seen[wait.group, wait.slot]
                differs = [differ(first, wait) for _, first in parties]
                if parties and all(differs):
                    yield CollectiveMismatch(one=parties[0][0], other=one.rank, what=differs[0])
                if all(differs):
                    parties.append((one.rank, wait))


def _knot(
    found: Sequence[RankState], gone: Sequence[RankState], disagreements: Sequence[CollectiveMismatch]
) -> DeadlockKind:
    waits = [one.waits[0] for one in found]
    if gone:
        return DeadlockKind.GONE
    if disagreements:
        return DeadlockKind.MISMATCH
    if all(wait.kind in (OperationKind.SEND, OperationKind.RECV) for wait in waits):
        return DeadlockKind.PEERS
    if any(wait.group == NEW_GROUP for wait in waits):
        return DeadlockKind.NEW_GROUP
    if all(wait.kind is OperationKind.STORE for wait in waits):
        return DeadlockKind.STORE
    return DeadlockKind.CROSSED

"""Blocking messages that every rank sends first, or waits for first. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.static.executed.rounds import counts
from diagnostics.static.executed.saved_files import asks_rank
from diagnostics.static.executed.training import runs_beside
from diagnostics.static.execution.events import Event, Execution, Guard
from diagnostics.static.execution.values import Const, Made, Value, sources

_SEND, _RECV = "torch.distributed.send", "torch.distributed.recv"
_PEERS = {_SEND: (1, "dst"), _RECV: (1, "src")}
_COMMON = frozenset(["torch.distributed.get_world_size", "range", "int", "not", "and", "or", "min", "max", "counter",
                     "count", "torch.distributed.is_initialized"])  # fmt: skip
_NUMBERED = frozenset(["range", "enumerate"])
_OTHERS = tuple(f"torch.distributed.{one}" for one in operations.ALWAYS_ASYNC)


def all_wait_for_each_other(execution: Execution) -> Iterator[tuple[Event, Event]]:
    """Yields (first message, the other one): all ranks do both in this order, to and from neighbours by their rank."""
    last: Event | None = None
    for one in execution.events:
        if one.name in _OTHERS:
            last = None
        elif one.name in _PEERS:
            if last is not None and last.name != one.name and _together(last, one):
                yield last, one
                return
            last = one if _by_all(one) else None


def _together(one: Event, other: Event) -> bool:
    same_loops = [loop.node for loop in one.loops] == [loop.node for loop in other.loops]
    return one.function is other.function and same_loops and _by_all(other)


def _by_all(event: Event) -> bool:
    """Whether every rank comes to a message, whose peer follows from its rank."""
    peer = event.argument(*_PEERS[event.name])
    if peer is None or isinstance(peer, Const) or not asks_rank(peer):
        return False
    return not runs_beside(event) and all(_is_of_all(one) for one in event.guards)


def _is_of_all(guard: Guard) -> bool:
    """Whether a test falls alike on all ranks: on rounds, on how many ranks there are, on what the program sets."""
    if guard.handler or asks_rank(guard.test):
        return False
    return counts(guard.test) or all(_is_common(one) for one in sources(guard.test))


def _is_common(value: Value) -> bool:
    if isinstance(value, Made):
        plain = not value.name[:1].isalpha() or value.name in _COMMON
        of_range = value.name in ("item", "count") and isinstance(value.owner, Made) and value.owner.name in _NUMBERED
        return of_range or (plain and not value.name.startswith(("(", "[", ".")))
    return isinstance(value, Const)

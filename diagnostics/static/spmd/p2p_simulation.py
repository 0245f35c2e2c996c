"""Messages between two ranks, run as their programs give them: which ranks are left waiting for each other. Pure.

A blocking send ends when its receive is there, as with NCCL and, for anything but small tensors, the others.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from diagnostics.static.program.functions import Function

UNKNOWN = "unknown"  # a tag that may be any


class MessageKind(StrEnum):
    """What one event is."""

    SEND = "send"
    RECEIVE = "recv"
    WAIT = "wait"
    MEET = "meet"  # a collective of all ranks


@dataclass(frozen=True, eq=False)
class Message:
    """One thing a rank does. `blocking`: it goes on when the other side is there; WAIT waits for `awaited`."""

    kind: MessageKind
    call: ast.Call
    function: Function
    peer: int = -1
    tag: Any = 0
    op: str = ""
    blocking: bool = True
    awaited: Message | None = None


@dataclass(frozen=True)
class BlockedRank:
    """What a rank is left waiting in, and what it would have done after that."""

    rank: int
    event: Message
    rest: tuple[Message, ...]


@dataclass(frozen=True)
class SimulationResult:
    """How a run ended; of those left waiting, the ones in a collective come last.

    `paired`: every send has its receive somewhere, so that only the order is wrong.
    """

    waiting: tuple[BlockedRank, ...] = ()
    lost: tuple[tuple[int, Message], ...] = ()  # posted and never met
    paired: bool = True
    decided: bool = True
    tags_differ: bool = False


@dataclass
class _Rank:
    program: Sequence[Message]
    at: int = 0

    @property
    def now(self) -> Message | None:
        return self.program[self.at] if self.at < len(self.program) else None


@dataclass
class _Run:
    ranks: list[_Rank]
    posted: list[tuple[int, Message]] = field(default_factory=list)  # not met yet
    met: set[int] = field(default_factory=set)

    def post(self, rank: int, event: Message) -> None:
        for one in self.posted:
            if _meets((rank, event), one):
                self.posted.remove(one)
                self.met |= {id(event), id(one[1])}
                return
        self.posted.append((rank, event))


def run(programs: Sequence[Sequence[Message]]) -> SimulationResult:
    """Returns how the programs of ranks 0, 1, ... end."""
    state = _Run([_Rank(one) for one in programs])
    known: set[int] = set()
    while True:
        moved = any(_advance(state, number, known) for number in range(len(programs)))
        if not moved and not _meeting(state):
            break
    waiting = [
        BlockedRank(number, rank.now, tuple(rank.program[rank.at + 1 :]))
        for number, rank in enumerate(state.ranks)
        if rank.now is not None
    ]
    if waiting and all(_is_meet(one.event) for one in waiting):
        return SimulationResult(decided=False)  # collectives that do not fit: another rule's
    return SimulationResult(
        waiting=tuple(sorted(waiting, key=lambda one: _is_meet(one.event))),
        lost=tuple(state.posted),
        paired=_paired(programs, tags=True),
        tags_differ=_paired(programs, tags=False) and not _paired(programs, tags=True),
    )  # fmt: skip


def _advance(state: _Run, number: int, known: set[int]) -> bool:
    """Lets one rank go on as far as it can; whether it went anywhere."""
    rank, moved = state.ranks[number], False
    while (event := rank.now) is not None and not _is_meet(event):
        if event.kind is not MessageKind.WAIT and id(event) not in known:
            known.add(id(event))
            state.post(number, event)
            moved = True
        behind = event.awaited if event.kind is MessageKind.WAIT else event if event.blocking else None
        if behind is not None and id(behind) not in state.met:
            return moved
        rank.at += 1
        moved = True
    return moved


def _meeting(state: _Run) -> bool:
    """Lets all ranks pass a collective that each of them has come to."""
    events = [rank.now for rank in state.ranks]
    if not all(_is_meet(one) for one in events) or len({one.op for one in events if one is not None}) != 1:
        return False
    for rank in state.ranks:
        rank.at += 1
    return True


def _is_meet(event: Message | None) -> bool:
    return event is not None and event.kind is MessageKind.MEET


def _meets(one: tuple[int, Message], other: tuple[int, Message]) -> bool:
    (rank, event), (there, waiting) = one, other
    if (
        {event.kind, waiting.kind} != {MessageKind.SEND, MessageKind.RECEIVE}
        or event.peer != there
        or waiting.peer != rank
    ):
        return False
    return event.tag == waiting.tag or UNKNOWN in (event.tag, waiting.tag)


def _paired(programs: Sequence[Sequence[Message]], *, tags: bool) -> bool:
    """Whether there is a receive for every send, by sender, receiver and tag."""
    known = all(event.tag != UNKNOWN for program in programs for event in program)
    sent, received = [], []
    for number, program in enumerate(programs):
        for event in program:
            tag = repr(event.tag) if tags and known else ""
            if event.kind is MessageKind.SEND:
                sent.append((number, event.peer, tag))
            elif event.kind is MessageKind.RECEIVE:
                received.append((event.peer, number, tag))
    return sorted(sent) == sorted(received)

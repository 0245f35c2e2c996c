"""Where each rank of a job stands at one moment, as far as waiting goes: plain values that proofs and reports read.

`rank_state_builder.py` makes them of what the agents wrote; `wait_for_graph.py` proves deadlocks over them. All times
are seconds since the job started. Frames are innermost first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame


class Whereabouts(StrEnum):
    """What a rank's main thread does."""

    WAITING = "waiting"  # blocked in an operation that only other ranks can complete
    OUTSIDE = "outside"  # in none: it computes, reads, sleeps, waits for a lock; what it will do nobody can prove
    LEAVING = "leaving"  # its main thread is through: interpreter shutdown, atexit handlers, threads it waits for
    ENDED = "ended"
    ABSENT = "absent"  # never started, or never reached the process group
    UNKNOWN = "unknown"  # no agent, no stack


class OperationKind(StrEnum):
    """Which kind of operation a rank waits in."""

    COLLECTIVE = "collective"  # barriers, new_group and object collectives, too; C++ ones of DDP and FSDP
    SEND = "send"
    RECV = "recv"
    STORE = "store"  # a key that any other rank may set
    RENDEZVOUS = "rendezvous"  # init_process_group
    DESTROY = "destroy"  # destroy_process_group


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingOperation:
    """One operation that a thread of a rank cannot leave by itself. Asynchronous work counts once it is waited for."""

    kind: OperationKind
    op: str  # all_reduce, barrier, recv, get...; "" where only C++ knows
    group: str  # name of the process group; "" the default one
    ranks: tuple[int, ...]  # global ranks of the group; () unknown
    slot: int | None  # which operation of the group it is, counted by the group itself; None unknown
    shape: str = ""
    dtype: str = ""
    root: int | None = None  # global rank: src, dst, peer of send and recv
    key: str = ""  # of a store wait
    path: tuple[Frame, ...] = ()  # where Python called it
    since_s: float = 0.0
    native: bool = False  # called by C++ (DDP's reducer, FSDP), seen by the flight recorder or the group's counter
    thread: int = 0
    timeout_s: float | None = None  # its own, where known
    recorded: str = ""  # what the flight recorder calls it, with elements and types; comparable with another such text
    asynchronous: bool = False  # begun earlier, and waited for now

    @property
    def shown(self) -> str:
        """The call in words: "all_reduce(8x3, float32)"."""
        if self.native:
            return f"{self.recorded or 'a collective'} of C++"
        if self.kind is OperationKind.STORE:
            return f"{self.op}({self.key})"
        peer = "to" if self.op in operations.SENDS else "from" if self.op in operations.RECEIVES else "root"
        words = [self.shape, self.dtype, "" if self.root is None else f"{peer} {self.root}"]
        return f"{self.op}({', '.join(filter(None, words))})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankState:
    """One rank at one moment."""

    rank: int
    pid: int
    at_s: float
    stand: Whereabouts
    waits: tuple[PendingOperation, ...] = ()  # of its blocked threads, the main thread's first
    stack: tuple[Frame, ...] = ()  # of its main thread, library frames too; () unknown
    # How many operations it has begun in each group, C++ ones too; a group it never used is not in here.
    reached: Mapping[str, int] = field(default_factory=dict)
    # Groups in which a thread other than those of `waits` has made calls, and so could make the missing one.
    open_groups: frozenset[str] = frozenset()
    # Whether a thread that is not blocked may come to such a call, by its stack and the sources; and whether one may
    # set a key of the store: any that runs the project's code, or a process beside the ranks.
    threads_may_call: bool = False
    threads_may_set: bool = False
    # What it did in slots (group, slot) in which another rank waits now, as far as it is known.
    passed: Mapping[tuple[str, int], PendingOperation] = field(default_factory=dict)
    # Point to point: how many it has begun, by (group, send or recv, peer); None where that is not known for sure.
    exchanged: Mapping[tuple[str, OperationKind, int], int] | None = field(default_factory=dict)
    exit_code: int | None = None
    signal: int | None = None

    @property
    def wait(self) -> PendingOperation | None:
        """What its main thread waits in."""
        return self.waits[0] if self.waits else None

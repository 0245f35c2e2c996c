"""Which calls from Python the threads of a rank are blocked in at a moment, and whether it is on its way out. Pure.

Waits of C++ code that no call from Python shows: DDP's reducer in a backward pass, FSDP, constructors.

The stack says that the main thread is in such code, the flight recorder which collective is not done, and that the
process uses no CPU says that it waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.agent.shared import operations
from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.collective_log import RECEIVES, SENDS, CollectiveLog
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP, OBJECTS
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation
from diagnostics.dynamic.job import stack_classifier
from diagnostics.record.agent_data import AgentData, CollectiveCall
from diagnostics.record.agent_file import ranks_of

STALE_S = 5.0  # work that is not done for so long: where nobody looked at the CPU

_OVER = ("exit", "alive-at-end")  # events of a program that is through
_SHUTDOWN = re.compile(r"/threading\.py$")
_LOCAL = "ranks "
_MOST_PARTS = 4  # of a collective of objects


def pending_operations(
    agent: AgentData, local_s: float, offset_s: float, counts: CollectiveLog
) -> tuple[PendingOperation, ...]:
    """Returns what each thread is blocked in, the main thread's first. `local_s` is on the agent's clock."""
    latest: dict[int, CollectiveCall] = {}
    for call in counts.calls:
        latest[call.thread] = call  # a later call of a thread shows that it left the one before
    inside = [call for call in latest.values() if call.left_s is None or call.left_s > local_s]
    found = [_wait(call, offset_s, counts) for call in inside]
    return tuple(sorted(found, key=lambda wait: wait.thread != agent.pid))


def leaves_from(agent: AgentData, stack: Sequence[Frame], local_s: float) -> bool:
    """Whether the main thread's program is over and the interpreter is shutting down."""
    if any(event.kind in _OVER and event.seconds <= local_s for event in agent.events):
        return True
    return any(_SHUTDOWN.search(frame.file) and frame.function == "_shutdown" for frame in stack)


def _wait(call: CollectiveCall, offset_s: float, counts: CollectiveLog) -> PendingOperation:
    begun = _begun(call, counts.calls) if call.op == "wait" else call
    op = begun.op
    kind = _kind(op)
    group, slot = begun.group, begun.number if begun.number >= 0 else None
    ranks = counts.ranks(group)
    if op == NEW_GROUP:
        group, slot, ranks = NEW_GROUP, counts.ordinal(call), _members(call.shape, ranks)
    elif op in OBJECTS and slot is not None:  # made of several: the one it is in
        others = {one.number for one in counts.calls if one.group == group and one.thread != call.thread}
        begun_since = range(slot + 1, min(counts.reached.get(group, 0), slot + _MOST_PARTS))
        slot = max((one for one in begun_since if one not in others), default=slot)
    return PendingOperation(
        kind=kind,
        op=op,
        group=group,
        ranks=ranks,
        slot=slot if kind is OperationKind.COLLECTIVE else None,
        shape=begun.shape if kind is not OperationKind.STORE else "",
        dtype=begun.dtype,
        root=begun.root,
        key=begun.shape if kind is OperationKind.STORE else "",
        path=call.path,
        since_s=offset_s + call.entered_s,
        thread=call.thread,
        asynchronous=call.op == "wait",
    )


def _kind(op: str) -> OperationKind:
    if op in SENDS:
        return OperationKind.SEND
    if op in RECEIVES or op in operations.BATCHES:
        return OperationKind.RECV
    if op.startswith("store."):
        return OperationKind.STORE
    return OperationKind.DESTROY if op == operations.DESTROY else OperationKind.COLLECTIVE


def _begun(wait: CollectiveCall, calls: Sequence[CollectiveCall]) -> CollectiveCall:
    """Returns the asynchronous call that is waited for, the wait itself where it is not in the ring any more."""
    for call in reversed(calls):
        same = (call.group, call.number, call.root) == (wait.group, wait.number, wait.root)
        if same and call.asynchronous and call.sequence < wait.sequence:
            return call
    return wait


def _members(shape: str, world: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the ranks of a group that is being made: "ranks 0-3,8", or all of the world."""
    return ranks_of(shape.removeprefix(_LOCAL)) if shape.startswith(_LOCAL) and shape != "ranks all" else world


def native_pending_operation(
    agent: AgentData, counts: CollectiveLog, stack: Sequence[Frame], local_s: float, *, idle: bool | None
) -> PendingOperation | None:
    """Returns what C++ code of the main thread waits for, None where it does not or nothing proves it.

    `since_s` is seconds of the wall clock.
    """
    if idle is False or not _may_be_inside(agent, stack):
        return None
    moment_ns = agent.started_ns + int(local_s * 1e9)
    pending = [entry for entry in counts.pending if entry.created_ns <= moment_ns]
    if not pending:
        return None
    entry = pending[0]
    if idle is None and moment_ns - pending[-1].created_ns < STALE_S * 1e9:
        return None
    return PendingOperation(
        kind=OperationKind.COLLECTIVE,
        op="",
        group=entry.group,
        ranks=counts.ranks(entry.group),
        slot=counts.slot(entry),
        path=tuple(stack),
        since_s=entry.created_ns / 1e9,
        native=True,
        timeout_s=entry.timeout_s,
        recorded=entry.shown,
    )


def _may_be_inside(agent: AgentData, stack: Sequence[Frame]) -> bool:
    """Whether the main thread is in code of torch that may wait for ranks; by the agent where no stack is known."""
    own = [frame for frame in stack if not (agent.agent_folder and frame.file.startswith(agent.agent_folder))]
    if not own:
        return agent.steps.in_backward
    return bool(stack_classifier.ABOVE_NATIVE.search(own[0].file))

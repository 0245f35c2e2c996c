"""Sends and receives that cannot pair: ranks wait for each other, or a message is never waited for.

What it does: runs the send() and recv() of a function for small jobs of 2, 3 and 4 ranks, where all peers, tags and
tests can be worked out, and flags those in which ranks are left waiting in every job it fits: a ring in which
everybody sends first, two neighbours that both receive first, a send that nobody receives, tags that differ. It also
flags isend() and irecv() whose handle is dropped. Ranks ordered by parity, isend + recv + wait and batch_isend_irecv
are right.

Why it matters: a blocking send ends when the other side receives. Where all send first none ever does; training stands
still until the timeout. A handle that is dropped leaves no way to know when the buffer may be read or written again.

Bad:

    dist.send(block, dst=(rank + 1) % world)
    dist.recv(received, src=(rank - 1) % world)

Good:

    sent = dist.isend(block, dst=(rank + 1) % world)
    dist.recv(received, src=(rank - 1) % world)
    sent.wait()

What it cannot see: peers and tags that come from data or settings; groups smaller than the job.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.messages import all_wait_for_each_other
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_calls
from diagnostics.static.spmd.p2p_deadlocks import MessageDeadlocks, P2PDeadlock
from diagnostics.static.spmd.p2p_simulation import BlockedRank, MessageKind

CODE = "A210"
NAME = "send-recv-order"
SEVERITY = Severity.ERROR
WORDS = tuple(op for op in (*operations.SENDS, *operations.RECEIVES) if op not in operations.PICKLED)
_ASYNC = frozenset(operations.ALWAYS_ASYNC) - frozenset(operations.BATCHES)
CHECKLIST = "every send meets its receive"
_FIX = (
    "start one side without waiting: handle = dist.isend(...); dist.recv(...); handle.wait(), or use batch_isend_irecv"
)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the messages that cannot pair, and the handles that are dropped."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for first, other in all_wait_for_each_other(execution):
        sends = first.name.endswith("send")
        yield violation(
            home(first, project),
            first.node,
            f"all ranks {'send' if sends else 'wait for a message'} first, and each waits for one that does the same: "
            "a large message, or NCCL, waits for the other side",
            "isend or irecv first, or dist.batch_isend_irecv with both; or even ranks send first, odd ones receive",
            steps=(shown(other, project, "which all come to behind it"),),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    for one in project.fact(MessageDeadlocks).found:
        if one.first.function.file == file.shown:
            yield violation(file, one.first.call, _told(one), _fix(one), steps=tuple(_steps(one, project)))
    for call in operation_calls(file, project):
        if call.op in _ASYNC and _is_dropped(call, file):
            yield _dropped(call, file)


def _told(one: P2PDeadlock) -> str:
    waiting = one.outcome.waiting
    kinds = {each.event.kind for each in waiting}
    if one.outcome.tags_differ:
        return f"the tags of send and recv differ ({_tags(waiting)}): the ranks wait for each other for ever"
    if not one.outcome.paired:
        return f"{_message(waiting[0])} on rank {waiting[0].rank} of {one.world} is never answered: it waits for ever"
    if MessageKind.MEET in kinds:
        return (
            f"{_who(waiting[0])} waits for a rank that waits in {waiting[-1].event.op}() itself: none of them goes on"
        )
    if kinds == {MessageKind.SEND}:
        return f"every rank is in {waiting[0].event.op}() before any comes to recv(): blocking sends then wait for ever"
    if kinds == {MessageKind.RECEIVE}:
        return "the ranks that would send wait in recv() first: nobody has sent anything, and all wait for ever"
    return (
        f"{_who(waiting[0])} and {_who(waiting[1])} wait for each other"
        if len(waiting) > 1
        else f"{_who(waiting[0])} waits for ever"
    )


def _fix(one: P2PDeadlock) -> str:
    if one.outcome.tags_differ:
        return "give both sides the same tag"
    if not one.outcome.paired:
        return "let the peer call the other half: a recv(src=...) for each send(dst=...)"
    if any(each.event.kind is MessageKind.MEET for each in one.outcome.waiting):
        return "move the collective in front of the messages or behind them, on every rank"
    return _FIX


def _who(one: BlockedRank) -> str:
    return f"{_message(one)} on rank {one.rank}"


def _message(one: BlockedRank) -> str:
    """Returns "send() to rank 1", "wait() of isend() to rank 1"."""
    event = one.event.awaited or one.event
    if event.kind is MessageKind.MEET:
        return f"{event.op}()"
    towards = "to" if event.kind is MessageKind.SEND else "from"
    return f"{'wait() of ' if one.event.awaited else ''}{event.op}() {towards} rank {event.peer}"


def _tags(waiting: tuple[BlockedRank, ...]) -> str:
    return ", ".join(sorted({repr(one.event.tag) for one in waiting}))


def _steps(one: P2PDeadlock, project: Project) -> Iterator[ExplanationStep]:
    for each in one.outcome.waiting:
        place = project.file_with(each.event.function)
        yield step(place, each.event.call, f"rank {each.rank} of {one.world} waits in {_message(each)}")


def _is_dropped(call: CollectiveCallSite, file: ProjectFile) -> bool:
    """Whether nothing keeps the handle: a statement of its own, or a name that is never read."""
    around = file.parents.get(call.call)
    above: ast.AST | None = around
    while above is not None:
        if isinstance(above, ast.With) and any("coalescing" in ast.unparse(item.context_expr) for item in above.items):
            return False
        above = file.parents.get(above)
    if isinstance(around, ast.Expr):
        return True
    if not isinstance(around, ast.Assign) or len(around.targets) != 1 or not isinstance(around.targets[0], ast.Name):
        return False
    name = around.targets[0].id
    scope = walk(call.function.syntax)
    return not any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in scope)


def _dropped(call: CollectiveCallSite, file: ProjectFile) -> Violation:
    received = call.op in operations.RECEIVES
    follows = "the buffer is read before it has arrived" if received else "its tensor may be changed before it has left"
    return violation(
        file, call.call,
        f"nobody waits for this {call.op}(), its handle is dropped: {follows}",
        f"keep it and wait before the tensor is used: handle = dist.{call.op}(...); handle.wait()",
        confidence=Confidence.LIKELY, severity=Severity.ERROR if received else Severity.WARNING,
    )  # fmt: skip

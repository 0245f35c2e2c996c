"""Where each rank stood when the job broke, and how their ways had parted: asked as of a hang. Pure.

Nobody waits any more then. Ranks that met in one operation and did not mean the same are told by the stack of gloo's
abort and by the tracebacks of those that lost their connection in the same moment; one that ended well, before its
peers were through, is told by its exit code, and the peers by where they lost it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.collectives.wait_for_graph import Deadlock, DeadlockKind
from diagnostics.dynamic.divergence.deadlock_diagnosis import DeadlockDiagnosis, diagnose
from diagnostics.dynamic.job import stack_classifier
from diagnostics.dynamic.job.evidence import ended_s, written_by
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess
from diagnostics.dynamic.job.process_list import job_time as job_time
from diagnostics.record.agent_data import CollectiveCall
from diagnostics.record.torch_messages import is_lost_peer
from diagnostics.record.tracebacks import tracebacks
from diagnostics.static.dataflow.taint_sources import RANK

_ENDING = (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN, ExceptionSource.OUTPUT, ExceptionSource.THREAD)
_NATIVE = stack_classifier.WAITS_OR_COMPUTES


def parted_before_abort(job: Job, aborted: JobProcess) -> DeadlockDiagnosis | None:
    """Returns how the ways of the ranks parted before one was aborted in an operation that others met it in.

    None where all stood in one place, as far as it is known, or only one rank's place is known.
    """
    stood = [one for process in job.ranks if (one := _stood(job, process, aborted)) is not None]
    return _process(job, stood, [], DeadlockKind.CROSSED)


def parted_before_end(job: Job, left: Sequence[JobProcess]) -> DeadlockDiagnosis | None:
    """Returns how the ways parted of ranks that ended well and of peers that lost them; None where that is open."""
    ended = [
        RankState(rank=process.rank, pid=process.pid, at_s=ended_s(process), stand=Whereabouts.ENDED)
        for process in left
        if process.rank is not None and process.agent is not None
    ]
    stood = [one for process in job.ranks if process not in left and (one := _stood(job, process, None)) is not None]
    return _process(job, stood, ended, DeadlockKind.GONE)


def went_alone(parted: DeadlockDiagnosis) -> tuple[int, ...]:
    """Returns the ranks that lost their peers in what a test of the rank has them alone do; () where none did."""
    if not parted.decisions or parted.decisions[0].tainted_by != RANK:
        return ()
    waited = {one.rank for one in parted.deadlock.positions}
    return parted.culprits if waited.issuperset(parted.culprits) else ()


def _process(
    job: Job, stood: Sequence[RankState], ended: Sequence[RankState], knot: DeadlockKind
) -> DeadlockDiagnosis | None:
    if not stood or len(stood) + len(ended) < 2:
        return None
    found = tuple(sorted(stood, key=lambda one: one.rank))
    began_s = min(one.waits[0].since_s for one in found)
    ranks = tuple(one.rank for one in found)
    met = Deadlock(knot=knot, ranks=ranks, positions=found, gone=tuple(ended), began_s=began_s)
    process = diagnose(job, met)
    return process if process.splits else None


def _stood(job: Job, process: JobProcess, aborted: JobProcess | None) -> RankState | None:
    path = _abort_path(process) if process is aborted else _lost_path(process)
    agent = process.agent
    if process.rank is None or agent is None:
        return None
    call = next((one for one in agent.collectives[-1:] if one.left_s is None or one.failed), None)
    own = user_frames(path, agent_folder=agent.agent_folder)
    if not path and call is not None and process is not aborted:
        path = call.path  # ended by the launcher while it still waited
    elif call is not None and _lines(own) != _lines(user_frames(call.path, agent_folder=agent.agent_folder)):
        call = None  # begun elsewhere, and not what it stood in
    if not path or (not own and call is None):
        return None
    end_s = ended_s(process)
    printed = _printed_path(job, process, path) if call is None else ()
    native = call is None and _in_native_exchange(job, process, path, printed)
    since_s = job_time(job.facts, agent, call.entered_s) if call is not None else end_s
    wait = _wait(call, printed or path, since_s, native=native)
    return RankState(
        rank=process.rank, pid=process.pid, at_s=end_s, stand=Whereabouts.WAITING, waits=(wait,), stack=path
    )


def _wait(call: CollectiveCall | None, path: tuple[Frame, ...], since_s: float, *, native: bool) -> PendingOperation:
    if call is None:  # of C++, or of a function that is not watched: which one it was is told by the line alone
        return PendingOperation(
            kind=OperationKind.COLLECTIVE,
            op="",
            group="",
            ranks=(),
            slot=None,
            path=path,
            since_s=since_s,
            native=native,
        )
    return PendingOperation(
        kind=OperationKind.COLLECTIVE,
        op=call.op,
        group=call.group,
        ranks=(),
        slot=call.number if call.number >= 0 else None,
        shape=call.shape,
        dtype=call.dtype,
        root=call.root,
        path=call.path,
        since_s=since_s,
    )


def _lines(frames: tuple[Frame, ...]) -> list[tuple[str, int]]:
    return [(frame.file, frame.line) for frame in frames]


def _abort_path(process: JobProcess) -> tuple[Frame, ...]:
    """Returns the main thread of an aborted rank: the abort itself may have come in a thread of gloo's."""
    threads = process.fault.threads if process.fault is not None else ()
    return next((one.frames for one in threads if any(frame.function == "<module>" for frame in one.frames)), ())


def _lost_path(process: JobProcess) -> tuple[Frame, ...]:
    return next((one.path for one in process.raised if one.how in _ENDING and is_lost_peer(one.text)), ())


def _printed_path(job: Job, process: JobProcess, path: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the path as the rank printed it, with the frames of libraries, which the agent does not record."""
    folder, own = process.agent_folder, _lines(user_frames(path, agent_folder=process.agent_folder))
    for told in reversed(tracebacks(written_by(job, process))):
        if _lines(user_frames(told.frames, agent_folder=folder)) == own:
            return told.frames
    return ()


def _in_native_exchange(job: Job, process: JobProcess, path: tuple[Frame, ...], printed: tuple[Frame, ...]) -> bool:
    """Whether a rank lost its peer inside a backward pass or a wrapper's forward: what DDP and FSDP exchange there."""
    agent = process.agent
    if printed:
        folder = agent.agent_folder if agent is not None else ""
        inner = next((frame for frame in printed if not (folder and frame.file.startswith(folder))), None)
        return inner is not None and bool(_NATIVE.search(inner.file))
    if agent is None or not path:
        return agent is not None and agent.steps.in_backward
    own = user_frames(path, agent_folder=agent.agent_folder)[:1]
    return agent.last_event("ddp") is not None and any(_calls_backward(job, frame) for frame in own)


def _calls_backward(job: Job, frame: Frame) -> bool:
    """Whether a line is a backward pass: where nobody printed the traceback, that is what is known of it."""
    statement = job.sources.file(frame.file).statement_at(frame.line)
    if not isinstance(statement, (ast.Expr, ast.Assign)):
        return False
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(isinstance(one.func, ast.Attribute) and one.func.attr == "backward" for one in calls)

"""What a process waits for, followed into the children, data workers and threads that it waits for. Pure.

The processes that a rank started: which of them lived when the job stood still, and which only waited for orders.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from diagnostics.core.frame import Frame
from diagnostics.core.frames import is_installed, user_frames
from diagnostics.dynamic.job.evidence import how_it_ended, program
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.observations import observations_of, open_files
from diagnostics.dynamic.job.stack_classifier import is_bootstrapped
from diagnostics.dynamic.stall.blocking_lines import lock_at, taken_at
from diagnostics.dynamic.stall.wait_cause import WaitCause, WaitKind, wait_cause

_WORKER_LOOP = re.compile(r"/torch/utils/data/_utils/worker\.py$")
_MULTIPROCESSING = re.compile(r"/multiprocessing/")

_MOST_STEPS = 5  # a shell that waits for a script that waits for a tool
_NO_LOCK = re.compile(r"\.(?:py|pyc|so)(?:\.|$)|/agents/|/dev/|\(deleted\)$|/output/")
_SENDERS = (WaitKind.QUEUE, WaitKind.PIPE, WaitKind.LOCK, WaitKind.EVENT)  # what other processes or threads could end


def wait_chain(job: Job, process: JobProcess, stack: Sequence[Frame] = (), steps: int = _MOST_STEPS) -> WaitCause:
    """Returns what a process waits for; `stack` is that of its main thread, by default the one captured."""
    stack = stack or stack_of(job, process)
    reason = wait_cause(job, process, stack)
    if steps <= 0:
        return reason
    if reason.kind is WaitKind.DATA_WORKER:
        return _through_workers(job, process, reason, steps)
    if reason.kind is WaitKind.CHILD:
        return _through_child(job, process, reason, steps)
    if reason.kind is WaitKind.FILE_LOCK:
        return _with_holders(job, process, reason)
    if reason.kind in (*_SENDERS, WaitKind.THREAD):
        return _with_threads(job, process, reason, steps)
    return reason


def stack_of(job: Job, process: JobProcess) -> tuple[Frame, ...]:
    """Returns the stack of a process's main thread as it was seen last, () where none was taken."""
    inside = tuple(f"{folder}/" for folder in job.agent_folders if folder)
    by_agent = (process.threads.main,) if process.threads is not None and process.threads.main else ()
    for stack in (*process.stacks[:1], *(one.stack for one in reversed(process.samples) if one.stack), *by_agent):
        if not all(frame.file.startswith(inside) for frame in stack):
            own = tuple(frame for frame in stack if not frame.file.startswith(inside))
            return process.threads.with_awaited(own) if process.threads is not None else own
    return ()


def _through_workers(job: Job, process: JobProcess, reason: WaitCause, steps: int) -> WaitCause:
    workers = [one for one in below(job, process) if one.part is ProcessRole.DATA_WORKER]
    dead = [one for one in workers if is_gone(job, one)]
    there = [one for one in workers if one not in dead]
    at_work = [one for one in there if not is_idle(stack_of(job, one))]
    if at_work:
        return _joined(job, reason, at_work[0], "worker", steps, theirs_first=True)
    if dead:
        return replace(reason, text=f"{reason.text}: worker {dead[0].pid} {how_it_ended(dead[0])}", pids=(dead[0].pid,))
    if there:
        text = f"{reason.text}, but all {len(there)} of them wait for work: a batch was lost on its way"
        return replace(reason, text=text, pids=tuple(one.pid for one in there))
    return reason


def _through_child(job: Job, process: JobProcess, reason: WaitCause, steps: int) -> WaitCause:
    children = [one for one in living_children(job, process) if one.part is not ProcessRole.DATA_WORKER]
    named = [one for one in children if one.pid == observations_of(job, process).argument]
    busy = [one for one in children if not is_pool_idle(stack_of(job, one))]
    chosen = named or busy[-1:] or children[-1:]
    if not chosen:
        return reason
    child = chosen[0]
    if is_gone(job, child):
        text = f"{reason.text}: process {child.pid} ({program(child)}) has ended already, which it did not notice"
        return replace(reason, text=text, pids=(child.pid,), proof=True)
    forked = child.agent is not None and (child.agent.forked_from != 0 or "multiprocessing" in " ".join(child.argv))
    return _joined(job, reason, child, "process", steps, theirs_first=forked)


def _joined(
    job: Job, reason: WaitCause, child: JobProcess, word: str, steps: int, *, theirs_first: bool = False
) -> WaitCause:
    """Returns the reason of a process with that of the child it waits for."""
    theirs = wait_chain(job, child, (), steps - 1)
    place = f", at {job.line(theirs.frame)}" if theirs.frame is not None and theirs.heart is None else ""
    who = f"{word} {child.pid}" + ("" if word == "worker" else f" ({program(child)})")
    # A child that waits for its parent is the parent's affair; a loop or lock of its own is its own.
    waits_for_parent = (theirs.heart or theirs.kind) in (
        WaitKind.TERMINAL,
        WaitKind.PIPE,
        WaitKind.UNKNOWN,
        WaitKind.SLEEP,
    ) and not theirs_first
    own = [reason.frame, *reason.frames]
    others = [theirs.frame, *theirs.frames[:1]]
    order = [one for one in ([*own[:1], *others, *own[1:]] if waits_for_parent else [*others, *own]) if one is not None]
    frames = tuple(dict.fromkeys(order))
    return WaitCause(
        kind=reason.kind,
        text=f"{reason.text}: {who} {theirs.text}{place}",
        frame=frames[0] if frames else None,
        frames=frames[1:],
        proof=theirs.proof,
        pids=(child.pid, *theirs.pids),
        heart=theirs.heart or theirs.kind,
        endless=theirs.endless,
    )


def _with_holders(job: Job, process: JobProcess, reason: WaitCause) -> WaitCause:
    """Returns the reason with the processes of the job that have the locked file open, too."""
    file = observations_of(job, process).open_file
    own = [file] if file else [one for one in open_files(job, process) if not _NO_LOCK.search(one)]
    holders = [one for one in job.processes if one.pid != process.pid and set(own) & set(open_files(job, one))]
    shared = sorted({name for one in holders for name in set(own) & set(open_files(job, one))})
    if len(shared) != 1:
        return reason
    named = [
        f"rank {one.rank}" if one.part is ProcessRole.RANK else f"process {one.pid} ({program(one)})" for one in holders
    ]
    text = reason.text if shared[0] in reason.text else f"{reason.text}, {shared[0]}"
    text = f"{text}, which {' and '.join(named)} {'has' if len(named) == 1 else 'have'} open too"
    standing = [frame for one in holders for frame in user_frames(stack_of(job, one))[:1]]
    frames = [frame for frame in standing if not frame.file.startswith("<")]  # of a `python -c`
    return replace(reason, text=text, frames=(*frames, *reason.frames), pids=tuple(one.pid for one in holders))


def _with_threads(job: Job, process: JobProcess, reason: WaitCause, steps: int) -> WaitCause:
    """Returns the reason with who should end the wait: a thread or child of its own, or one that failed before."""
    died = next((one for one in process.raised if one.how is ExceptionSource.THREAD), None)
    if died is not None:
        text = f"{reason.text}; a thread of its had died of {died.text[:120]}"
        return replace(reason, text=text, frames=(*died.user_path[:1], *reason.frames))
    holder = _holder(job, process, reason)
    if holder is not None:
        return holder
    folder = process.agent_folder
    threads = [frames for stack in other_threads(process) if (frames := _own_frames(stack, folder))]
    if len(threads) == 1:
        line = job.line(threads[0][0])
        joined = reason.kind is WaitKind.THREAD and reason.frame is not None
        text = f"{reason.text}; its other thread stands at {line}"
        if joined and reason.frame is not None:
            return replace(reason, text=text, frame=threads[0][0], frames=(reason.frame, *reason.frames))
        return replace(reason, text=text, frames=(*reason.frames[:1], threads[0][0], *reason.frames[1:]))
    shared = reason.kind is WaitKind.PIPE or "between processes" in reason.text  # a queue.Queue is its own
    children = [one for one in living_children(job, process) if one.agent is not None] if shared else []
    at_work = [one for one in children if not is_pool_idle(stack_of(job, one))]
    return _joined(job, reason, at_work[-1], "process", steps, theirs_first=True) if at_work else reason


def _holder(job: Job, process: JobProcess, reason: WaitCause) -> WaitCause | None:
    """Returns the reason with the thread of the same process that took a lock of this name, by the source."""
    place = reason.frame
    lock = (
        lock_at(job.sources.file(place.file), place.line) if place is not None and reason.kind is WaitKind.LOCK else ""
    )
    if place is None or not lock:
        return None
    for number, stack in enumerate([stack_of(job, process), *other_threads(process)]):
        for frame in user_frames(stack):
            taken = taken_at(job.sources.file(frame.file), frame.line, lock)
            if taken is not None:
                line = replace(frame, line=taken)
                who = "this thread itself" if number == 0 else f"another thread, now at {job.line(frame)},"
                text = f"waits for {lock}, which {who} took at {job.line(line)}"
                frames = (line, *((frame,) if number else ()), *reason.frames)
                return replace(reason, text=text, frames=tuple(dict.fromkeys(frames)))
    return None


def other_threads(process: JobProcess) -> tuple[tuple[Frame, ...], ...]:
    """Returns the stacks of all threads of a process but the main one, innermost first."""
    by_agent = process.threads.threads if process.threads is not None else ()
    return process.stacks[1:] or tuple(one.frames for one in by_agent if not one.main)


def _own_frames(stack: Sequence[Frame], agent_folder: str) -> tuple[Frame, ...]:
    """Returns the frames of the job's own files; () of a thread that only runs library code."""
    found = user_frames(stack, agent_folder=agent_folder)
    return found if found and not is_installed(found[0]) else ()


def living_children(job: Job, process: JobProcess) -> tuple[JobProcess, ...]:
    """Returns the children that were there when the job was looked at last, by start."""
    return tuple(one for one in job.children_of(process) if one.stacks or observations_of(job, one).samples)


def below(job: Job, process: JobProcess) -> list[JobProcess]:
    """Returns the descendants of a process: workers of a fork server are its grandchildren."""
    found: dict[int, JobProcess] = {}
    waiting = deque(job.children_of(process))
    while waiting:
        one = waiting.popleft()
        if id(one) not in found:  # in a record from elsewhere, processes may be each other's parents
            found[id(one)] = one
            waiting += job.children_of(one)
    return list(found.values())


def is_gone(job: Job, process: JobProcess) -> bool:
    """Whether a process had ended before the job was ended for it."""
    last = observations_of(job, process).last
    return (last is not None and last.state == "Z" and not process.ended_by) or (
        process.end.at_s is not None and process.ended_by == "" and not process.stacks and last is None
    )


def is_idle(stack: Sequence[Frame]) -> bool:
    """Whether a data worker waits for its next order."""
    inner = next((at for at, frame in enumerate(stack) if _WORKER_LOOP.search(frame.file)), None)
    if inner is None or stack[inner].function.rpartition(".")[2] != "_worker_loop":
        return False
    return all(_MULTIPROCESSING.search(frame.file) or frame.file.endswith("/selectors.py") for frame in stack[:inner])


def is_pool_idle(stack: Sequence[Frame]) -> bool:
    """Whether a worker waits for its next task, or a helper of multiprocessing for orders."""
    start = next((at for at, frame in enumerate(stack) if is_bootstrapped((frame,))), len(stack))
    own = user_frames(stack[:start])  # below it, a forked child shows where its parent stood
    return is_idle(stack) or (bool(stack) and not own) or any("_tracker.py" in frame.file for frame in stack)

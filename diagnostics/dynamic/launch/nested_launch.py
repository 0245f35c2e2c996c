"""A launcher inside a rank of another launcher, from the tree of processes. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.launch.init_progress import initialised, variable
from diagnostics.static.launch_files.launch_line import read_launch_line

GIVEN_BY_LAUNCHERS = ("TORCHELASTIC_RUN_ID", "LOCAL_WORLD_SIZE", "GROUP_RANK")


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedLaunch:
    """`rank` was started by `outer` as one of its ranks, and started `inner`, ranks or another launcher."""

    outer: JobProcess | None
    rank: JobProcess
    inner: tuple[JobProcess, ...]
    path: tuple[Frame, ...]  # the user's lines that started them, innermost first


def nested_launch(job: Job) -> NestedLaunch | None:
    """Returns the first rank that launched ranks of its own, where something inside it failed or hung."""
    for process in job.processes:
        if not _is_rank_of_a_launcher(job, process):
            continue
        inner = tuple(one for one in _below(job, process) if _is_launched(job, one))
        launchers = tuple(one for one in inner if _is_launcher(one))
        if (launchers or len(inner) > 1) and _in_trouble(job, process, inner):
            shown = launchers or inner
            return NestedLaunch(
                outer=_outer(job, process), rank=process, inner=shown, path=_started_at(job, process, shown)
            )
    return None


def _is_rank_of_a_launcher(job: Job, process: JobProcess) -> bool:
    if _is_launcher(process) or process.part is ProcessRole.DATA_WORKER:
        return False
    outer = _outer(job, process)
    given = any(variable(process, name) for name in GIVEN_BY_LAUNCHERS)
    return outer is not None and (given or process.rank is not None)


def _is_launcher(process: JobProcess) -> bool:
    words = process.argv
    if words and words[0].rpartition("/")[2].startswith("python") and len(words) > 1:
        script = words[1].rpartition("/")[2]
        if script in ("torchrun", "accelerate", "deepspeed"):
            return True
    return bool(words) and bool(read_launch_line(words).launcher)


def _outer(job: Job, process: JobProcess) -> JobProcess | None:
    """The launcher right above, with nothing but shells between."""
    parent = job.of_pid(process.parent_pid)
    for _ in range(8):
        if parent is None or parent.pid == process.pid:
            return None
        if _is_launcher(parent):
            return parent
        if parent.part is not ProcessRole.SHELL:
            return None
        parent = job.of_pid(parent.parent_pid)
    return None


def _below(job: Job, process: JobProcess) -> list[JobProcess]:
    found: dict[int, JobProcess] = {}
    waiting = deque(job.children_of(process))
    while waiting and len(found) < 1000:
        one = waiting.popleft()
        if id(one) in found:
            continue
        found[id(one)] = one
        if not _is_launcher(one):
            waiting.extend(job.children_of(one))
    return list(found.values())


def _is_launched(job: Job, process: JobProcess) -> bool:
    """A launcher, or a process that is no data worker and made or wants a process group."""
    if _is_launcher(process):
        return True
    if process.part is ProcessRole.DATA_WORKER:
        return False
    stands = [frame for stack in process.stacks for frame in stack]
    raised = [frame for one in process.raised for frame in one.path]
    wants = any(frame.function.rpartition(".")[2] == "init_process_group" for frame in (*stands, *raised))
    began = process.agent is not None and process.agent.last_event("process-group-begin") is not None
    return began or wants or initialised(process)


def _in_trouble(job: Job, process: JobProcess, inner: tuple[JobProcess, ...]) -> bool:
    hung = job.facts.ended_for_hanging
    return hung or any(one.failed and one.ended_by in ("", "unknown") for one in (process, *inner))


def _started_at(job: Job, process: JobProcess, inner: tuple[JobProcess, ...]) -> tuple[Frame, ...]:
    if process.agent is None:
        return ()
    pids = {one.pid for one in inner} | {one.parent_pid for one in inner}
    for event in process.agent.events:
        words = dict(word.partition("=")[::2] for word in event.text.partition("|")[0].split())
        ours = event.kind == "child" and words.get("pid", "").isdigit() and int(words["pid"]) in pids
        frames = user_frames(event.path, agent_folder=process.agent.agent_folder) if ours else ()
        if frames:
            return frames
    return ()

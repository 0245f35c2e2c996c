"""A launcher inside a rank of another launcher, from the tree of processes. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.launch.init_progress import made_group, variable
from diagnostics.static.launch_files.launch_line import read_launch_line

GIVEN_BY_LAUNCHERS = ("TORCHELASTIC_RUN_ID", "LOCAL_WORLD_SIZE", "GROUP_RANK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesting:
    """`rank` was started by `outer` as one of its ranks, and started `inner`, ranks or another launcher."""

    outer: JobProcess | None
    rank: JobProcess
    inner: tuple[JobProcess, ...]
    path: tuple[Frame, ...]  # the user's lines that started them, innermost first


def nested_launch(case: Job) -> Nesting | None:
    """Returns the first rank that launched ranks of its own, where something inside it failed or hung."""
    for story in case.processes:
        if not _is_rank_of_a_launcher(case, story):
            continue
        inner = tuple(one for one in _below(case, story) if _is_launched(case, one))
        launchers = tuple(one for one in inner if _is_launcher(one))
        if (launchers or len(inner) > 1) and _in_trouble(case, story, inner):
            shown = launchers or inner
            return Nesting(outer=_outer(case, story), rank=story, inner=shown, path=_started_at(case, story, shown))
    return None


def _is_rank_of_a_launcher(case: Job, story: JobProcess) -> bool:
    if _is_launcher(story) or story.part is ProcessRole.DATA_WORKER:
        return False
    outer = _outer(case, story)
    given = any(variable(story, name) for name in GIVEN_BY_LAUNCHERS)
    return outer is not None and (given or story.rank is not None)


def _is_launcher(story: JobProcess) -> bool:
    words = story.argv
    if words and words[0].rpartition("/")[2].startswith("python") and len(words) > 1:
        script = words[1].rpartition("/")[2]
        if script in ("torchrun", "accelerate", "deepspeed"):
            return True
    return bool(words) and bool(read_launch_line(words).launcher)


def _outer(case: Job, story: JobProcess) -> JobProcess | None:
    """The launcher right above, with nothing but shells between."""
    parent = case.of_pid(story.parent_pid)
    for _ in range(8):
        if parent is None or parent.pid == story.pid:
            return None
        if _is_launcher(parent):
            return parent
        if parent.part is not ProcessRole.SHELL:
            return None
        parent = case.of_pid(parent.parent_pid)
    return None


def _below(case: Job, story: JobProcess) -> list[JobProcess]:
    found: dict[int, JobProcess] = {}
    waiting = deque(case.children_of(story))
    while waiting and len(found) < 1000:
        one = waiting.popleft()
        if id(one) in found:
            continue
        found[id(one)] = one
        if not _is_launcher(one):
            waiting.extend(case.children_of(one))
    return list(found.values())


def _is_launched(case: Job, story: JobProcess) -> bool:
    """A launcher, or a process that is no data worker and made or wants a process group."""
    if _is_launcher(story):
        return True
    if story.part is ProcessRole.DATA_WORKER:
        return False
    stands = [frame for stack in story.stacks for frame in stack]
    raised = [frame for one in story.raised for frame in one.path]
    wants = any(frame.function.rpartition(".")[2] == "init_process_group" for frame in (*stands, *raised))
    began = story.agent is not None and story.agent.last_event("process-group-begin") is not None
    return began or wants or made_group(story)


def _in_trouble(case: Job, story: JobProcess, inner: tuple[JobProcess, ...]) -> bool:
    hung = case.job.ended_for_hanging
    return hung or any(one.failed and one.ended_by in ("", "unknown") for one in (story, *inner))


def _started_at(case: Job, story: JobProcess, inner: tuple[JobProcess, ...]) -> tuple[Frame, ...]:
    if story.agent is None:
        return ()
    pids = {one.pid for one in inner} | {one.parent_pid for one in inner}
    for event in story.agent.events:
        words = dict(word.partition("=")[::2] for word in event.text.partition("|")[0].split())
        ours = event.kind == "child" and words.get("pid", "").isdigit() and int(words["pid"]) in pids
        frames = user_frames(event.path, agent_folder=story.agent.agent_folder) if ours else ()
        if frames:
            return frames
    return ()

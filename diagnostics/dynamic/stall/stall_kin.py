"""The processes that a rank started: which of them lived when the job stood still, and which only waited for orders."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Case, ProcessStory
from diagnostics.dynamic.job.observations import looks_of

_WORKER_LOOP = re.compile(r"/torch/utils/data/_utils/worker\.py$")
_MULTIPROCESSING = re.compile(r"/multiprocessing/")


def living_children(case: Case, story: ProcessStory) -> tuple[ProcessStory, ...]:
    """Returns the children that were there when the job was looked at last, by start."""
    return tuple(one for one in case.children_of(story) if one.stacks or looks_of(case, one).samples)


def below(case: Case, story: ProcessStory) -> list[ProcessStory]:
    """Returns the descendants of a process: workers of a fork server are its grandchildren."""
    found: dict[int, ProcessStory] = {}
    waiting = deque(case.children_of(story))
    while waiting:
        one = waiting.popleft()
        if id(one) not in found:  # in a record from elsewhere, processes may be each other's parents
            found[id(one)] = one
            waiting += case.children_of(one)
    return list(found.values())


def is_gone(case: Case, story: ProcessStory) -> bool:
    """Whether a process had ended before the job was ended for it."""
    last = looks_of(case, story).last
    return (last is not None and last.state == "Z" and not story.ended_by) or (
        story.end.at_s is not None and story.ended_by == "" and not story.stacks and last is None
    )


def is_idle(stack: Sequence[Frame]) -> bool:
    """Whether a data worker waits for its next order."""
    inner = next((at for at, frame in enumerate(stack) if _WORKER_LOOP.search(frame.file)), None)
    if inner is None or stack[inner].function.rpartition(".")[2] != "_worker_loop":
        return False
    return all(_MULTIPROCESSING.search(frame.file) or frame.file.endswith("/selectors.py") for frame in stack[:inner])


def is_pool_idle(stack: Sequence[Frame]) -> bool:
    """Whether a worker of a pool waits for its next task, or a helper of multiprocessing for orders."""
    return (bool(stack) and not user_frames(stack)) or any("_tracker.py" in frame.file for frame in stack)

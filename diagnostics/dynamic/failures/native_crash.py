"""What a process left that died of a fault signal: the thread, the line that called native code, the library. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import ProcessStory
from diagnostics.record.fault_stacks import ThreadStack

FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS}
RECURSION_FRAMES = 50  # equal frames on top of a stack, from which on it is recursion
_LIBRARY = re.compile(r"^([^\s:]+\.so[\w.]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeCrash:
    """Where native code crashed; `frames` are the user's, innermost first.

    `own_thread` is False where the thread that died shows no Python line and another thread's are given in its place.
    `library` is "" where no core dump tells.
    """

    frames: tuple[Frame, ...]
    path: tuple[Frame, ...]  # library frames too
    own_thread: bool
    in_main: bool
    library: str
    recursion: tuple[Frame, ...]  # the cycle of frames that fills the stack, () where it is no recursion


def is_fault(number: int | None) -> bool:
    """Whether a process does this to itself by a fault in native code."""
    return number is not None and number in {one.value for one in FAULTS}


def native_crash(story: ProcessStory) -> NativeCrash:
    """Returns where the process was when the signal came, as far as faulthandler, the agent and a core tell."""
    folder = story.agent.agent_folder if story.agent is not None else ""
    crashed = story.fault.crashed if story.fault is not None else None
    path = crashed.frames if crashed is not None else ()
    frames = user_frames(path, agent_folder=folder)
    own = bool(frames)
    if not frames and story.fault is not None:
        others = [user_frames(thread.frames, agent_folder=folder) for thread in reversed(story.fault.threads)]
        frames = next(filter(None, others), ())
    if not frames and story.death is not None and story.death.frame is not None:
        frames = (story.death.frame,)
    named = next((found[1] for line in story.native if (found := _LIBRARY.match(line)) and _telling(found[1])), "")
    return NativeCrash(
        frames=frames,
        path=path,
        own_thread=own,
        in_main=_in_main(story, crashed),
        library=named,
        recursion=_cycle(path),
    )


def _telling(library: str) -> bool:
    """The C library is where abort() and free() stand, not whose fault it is."""
    return not re.match(r"(?:libc|libpthread|libstdc\+\+|ld-linux)[-.]", library.rpartition("/")[2])


def _in_main(story: ProcessStory, crashed: ThreadStack | None) -> bool:
    """Whether the main thread died, which faulthandler writes last."""
    threads = story.fault.threads if story.fault is not None else ()
    return crashed is None or (bool(threads) and threads[-1] is crashed)


def _cycle(path: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the shortest run of frames that repeats all over the top of the stack; faulthandler shows 100 of them."""
    for length in range(1, 9):
        run = [(frame.file, frame.function) for frame in path[:length]]
        top = [(frame.file, frame.function) for frame in path[:RECURSION_FRAMES]]
        if len(top) == RECURSION_FRAMES and all(one == run[index % length] for index, one in enumerate(top)):
            return tuple(path[:length])
    return ()

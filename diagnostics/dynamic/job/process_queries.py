"""What one process's own record says about a line, an event, its presence: small questions that hang analyses share."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.core.frames import telling_frames, user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import LifecycleEvent


def still_there(story: JobProcess) -> bool:
    """Whether it had not ended when the job was ended by the doctor, or looked at."""
    return story.ended_by == "doctor" or (story.end.exit_code is None and story.end.signal is None)


def main_stack(story: JobProcess) -> tuple[Frame, ...]:
    """Returns the stack of its main thread, library frames too; () where none was taken."""
    return story.stacks[0] if story.stacks else ()


def seen_s(case: Job, story: JobProcess) -> float | None:
    """Returns when the process was captured last, in seconds since the job started; None where that is not known."""
    try:
        at_ns = untrusted_json.loads(case.extra.get(f"proc-{story.pid}.json", "")).get("at_ns")
    except (ValueError, AttributeError):
        return None
    return (at_ns - case.job.started_ns) / 1e9 if isinstance(at_ns, int) else None


def own_frames(story: JobProcess, path: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the frames of the user's files, innermost first, without the agent's; packages' where there are none."""
    folder = story.agent_folder
    found = user_frames(telling_frames(path, [folder] if folder else []), agent_folder=folder)
    return tuple(frame for frame in found if not frame.file.startswith("<"))


def own_lines(case: Job, story: JobProcess, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns "train.py:31" for each of these frames."""
    return tuple(case.line(frame) for frame in own_frames(story, path))


def events_of(story: JobProcess, *kinds: str) -> list[LifecycleEvent]:
    """Returns its lifecycle events of these kinds, in order."""
    return [event for event in story.agent.events if event.kind in kinds] if story.agent is not None else []


def event_s(case: Job, story: JobProcess, seconds: float) -> float:
    """Returns a time of its agent's clock as seconds since the job started; its start where it has no agent."""
    if story.agent is None:
        return story.began_s
    return (story.agent.started_ns - case.job.started_ns) / 1e9 + seconds


def runs(frame: Frame, file: str, function: str) -> bool:
    """Whether a frame is in a function of a file that ends so; py-spy tells qualified names on newer Pythons only."""
    return frame.file.endswith(file) and called(frame) == function.rpartition(".")[2]


def called(frame: Frame) -> str:
    """Returns the function's name without what it is defined in."""
    return frame.function.rpartition(".")[2]


def text_at(case: Job, frame: Frame) -> str:
    """Returns the source line, "" where it is not known."""
    lines = case.sources.file(frame.file).lines
    return lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""

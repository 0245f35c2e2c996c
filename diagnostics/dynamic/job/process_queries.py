"""What one process's own record says about a line, an event, its presence: small questions that hang analyses share."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.core.frames import telling_frames, user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import LifecycleEvent


def is_alive(process: JobProcess) -> bool:
    """Whether it had not ended when the job was ended by the doctor, or looked at."""
    return process.ended_by == "doctor" or (process.end.exit_code is None and process.end.signal is None)


def main_stack(process: JobProcess) -> tuple[Frame, ...]:
    """Returns the stack of its main thread, library frames too; () where none was taken."""
    return process.stacks[0] if process.stacks else ()


def seen_s(job: Job, process: JobProcess) -> float | None:
    """Returns when the process was captured last, in seconds since the job started; None where that is not known."""
    try:
        at_ns = untrusted_json.loads(job.extra.get(f"proc-{process.pid}.json", "")).get("at_ns")
    except (ValueError, AttributeError):
        return None
    return (at_ns - job.facts.started_ns) / 1e9 if isinstance(at_ns, int) else None


def user_frames_of(process: JobProcess, path: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the frames of the user's files, innermost first, without the agent's; packages' where there are none."""
    folder = process.agent_folder
    found = user_frames(telling_frames(path, [folder] if folder else []), agent_folder=folder)
    return tuple(frame for frame in found if not frame.file.startswith("<"))


def own_lines(job: Job, process: JobProcess, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns "train.py:31" for each of these frames."""
    return tuple(job.line(frame) for frame in user_frames_of(process, path))


def events_of(process: JobProcess, *kinds: str) -> list[LifecycleEvent]:
    """Returns its lifecycle events of these kinds, in order."""
    return [event for event in process.agent.events if event.kind in kinds] if process.agent is not None else []


def event_s(job: Job, process: JobProcess, seconds: float) -> float:
    """Returns a time of its agent's clock as seconds since the job started; its start where it has no agent."""
    if process.agent is None:
        return process.began_s
    return (process.agent.started_ns - job.facts.started_ns) / 1e9 + seconds


def runs(frame: Frame, file: str, function: str) -> bool:
    """Whether a frame is in a function of a file that ends so; py-spy tells qualified names on newer Pythons only."""
    return frame.file.endswith(file) and called(frame) == function.rpartition(".")[2]


def called(frame: Frame) -> str:
    """Returns the function's name without what it is defined in."""
    return frame.function.rpartition(".")[2]


def text_at(job: Job, frame: Frame) -> str:
    """Returns the source line, "" where it is not known."""
    lines = job.sources.file(frame.file).lines
    return lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""

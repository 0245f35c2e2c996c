"""Daemon threads that the interpreter cut off while they wrote a file."""

from __future__ import annotations

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import events_of
from diagnostics.static.program.open_writes import loops_at, writes_at


def cut_off_write(job: Job, process: JobProcess) -> tuple[Frame, Frame] | None:
    """Returns where such a thread was started and where it wrote; None where none was, or one that writes for ever."""
    for event in events_of(process, "cut-off"):
        own = user_frames(event.path, agent_folder=process.agent_folder)
        at = next((one for one in own if writes_at(job.sources.file(one.file), one.line)), None)
        if at is not None and not any(loops_at(job.sources.file(one.file), one.line) for one in own):
            file, _, line = event.text.rpartition(":")
            return Frame(file=file, line=int(line) if line.isdigit() else 0, function=""), at
    return None

"""Lines of the job's own files that a finding about its model is about. Pure."""

from __future__ import annotations

import re

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources

_PARAMETERS = re.compile(r"(?<![\w.])([A-Za-z_][\w.]*)\.(?:named_)?parameters\(")


def own(process: JobProcess, path: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the job's own frames of a path, innermost first."""
    return user_frames(path, agent_folder=process.agent_folder)


def text_of(job: Job, frame: Frame) -> str:
    """Returns the line's text, "" where the file is not there."""
    lines = job.sources.file(frame.file).lines
    return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""


def lines_like(job: Job, process: JobProcess, pattern: re.Pattern[str], most: int = 4) -> tuple[Frame, ...]:
    """Returns the lines of the files that ran which hold code like this, the first ones."""
    found = [
        Frame(file=name, line=number, function="")
        for name, file in job_sources(job, process)
        for number, text in enumerate(file.lines, 1)
        if pattern.search(text.partition("#")[0])
    ]
    return tuple(found[:most])


def model_in(text: str) -> str:
    """Returns "net" for "optimizer = SGD(net.parameters(), lr=1)", "model" where the line does not say it."""
    match = _PARAMETERS.search(text)
    return match[1] if match else "model"

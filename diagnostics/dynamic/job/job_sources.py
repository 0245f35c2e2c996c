"""Which of the job's own Python files were seen at work: scripts that ran, and files in call paths. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterator

from diagnostics.core.frame import Frame
from diagnostics.core.frames import is_installed, user_frames
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.static.program.source_file import SourceFile, imported_files

MOST_FILES = 60


def job_sources(job: Job, process: JobProcess | None = None) -> tuple[tuple[str, SourceFile], ...]:
    """Returns (name as Python knew it, file) of one process, or of all ranks first and then the others."""
    processes = (process,) if process is not None else (*job.ranks, *job.processes)
    waiting = list(dict.fromkeys(name for one in processes for name in _names(one)))
    found: dict[str, tuple[str, SourceFile]] = {}
    while waiting and len(found) < MOST_FILES:
        name = waiting.pop(0)
        file = job.sources.file(name)
        path = os.path.normpath(file.path)  # one file may have several names
        if file.tree is not None and path not in found:
            found[path] = (name, file)
            waiting += imported_files(name, file)
    return tuple(found.values())


def _names(process: JobProcess) -> Iterator[str]:
    yield from (os.path.join(process.cwd, word) for word in process.argv if word.endswith(".py"))  # noqa: PTH118 (a name)
    if process.agent is not None:
        folder = process.agent.agent_folder
        paths = [event.path for event in process.agent.events] + [one.path for one in process.agent.constructions]
        for path in paths:
            yield from (frame.file for frame in _own(user_frames(path, agent_folder=folder)))
    for raised in process.raised:
        yield from (frame.file for frame in _own(raised.user_path))


def _own(frames: tuple[Frame, ...]) -> Iterator[Frame]:
    yield from (frame for frame in frames if not is_installed(frame))

"""What of the program held ever more tensors, with their graphs or large ones, and the lines that add to it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.record.marks.object_marks import ContainerGrows

RECENT = 0.4  # of the steps: what stopped growing before is not what grows now
_CHANGES = re.compile(
    r"(?<!\w)(?P<name>\w{1,80})(?P<entry>\[[^\]]{1,80}\])?"
    r"(?:\.(?P<adds>append|appendleft|extend|insert|setdefault|update)\(| {0,2}(?P<sum>[+-]?=)(?!=))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTensors:
    """One such thing of one rank, and the lines that add to it, the first one in the file where it belongs.

    `step_bytes`: what it and others like it take more in each step, where they hold no graphs.
    """

    mark: ContainerGrows
    lines: tuple[Frame, ...]
    step_bytes: float


def held_tensors(job: Job, process: JobProcess) -> HeldTensors | None:
    """Returns what grew fastest until lately, and is added to by a line that can be found; one with graphs first."""
    steps = process.steps
    marks = [one for one in process.prints.marks_of(ContainerGrows) if one.step >= RECENT * steps]
    for mark in sorted(marks, key=lambda one: (not one.entry_bytes, one.step, one.length - one.before), reverse=True):
        lines = _lines(job, process, mark)
        if lines:
            alike = [one for one in marks if (one.name, one.owner, one.step) == (mark.name, mark.owner, mark.step)]
            return HeldTensors(mark=mark, lines=lines, step_bytes=sum(map(_step_bytes, alike)))
    return None


def _step_bytes(mark: ContainerGrows) -> float:
    return mark.entry_bytes * (mark.length - mark.before) / max(1, mark.steps)


def _lines(job: Job, process: JobProcess, mark: ContainerGrows) -> tuple[Frame, ...]:
    found = [
        Frame(file=file_name, line=number, function="")
        for file_name, file in job_sources(job, process)
        for number, text in enumerate(file.lines, 1)
        if _adds_to(mark.name, text.partition("#")[0])
    ]
    return tuple(sorted(found, key=lambda one: one.file != mark.file)[:2])


def _adds_to(name: str, text: str) -> bool:
    """Whether a line adds to something of this name: `x.append(`, `x[...] =`, `x +=`, `x = ... x`."""
    for change in _CHANGES.finditer(text):
        if change["name"] != name:
            continue
        if change["adds"] or change["entry"] or change["sum"] != "=" or name in text[change.end() :]:
            return True
    return False

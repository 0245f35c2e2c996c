"""A run goes on from checkpoint_9, though checkpoint_12 is there: the last file was found by its name as a text.

What it does: knows which checkpoint a process read before its first step, and which files of the job were written by
then. Told where names differ by one number only, the one that was read comes last as a text, and another one holds the
larger number, and the larger epoch or step where both say one; and where the run that read it writes such files again.

Why it matters: as texts 9 comes after 12, and after any number that begins with 1 to 8. Each job of a chain goes back
to the same file: what was trained since is thrown away and written over, and the training never ends. Left alone:
numbers that are filled up with zeros, files that are chosen by anything else than their names, runs that read a file
and write others.

Fix: compare numbers, with max(names, key=number_of), or fill them up with zeros in the name: f"{epoch:06d}".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import Told, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own, text_of
from diagnostics.record.training_marks import ReadState, SavedFile

CODE = "D960"
NAME = "resumed-from-an-earlier-file"
CLASS = "checkpoint-not-loaded"
EXAMINES = AppliesTo.SUCCEEDED

NEAR = 40  # lines between what chooses a file and what reads it
_NUMBERS = re.compile(r"(\d+)")
_TEMPORARY = re.compile(r"[._-](?:te?mp|part(?:ial)?|incomplete|writing|new)\b.*$")
_CHOOSES = (re.compile(r"\bsorted\(|\.sort\(|\bmax\("), re.compile(r"\[-1\]|\.pop\(\)"))


@dataclass(frozen=True, slots=True)
class Written:
    """A file whose name differs from that of the one that was read by a number."""

    number: int
    name: str
    mark: SavedFile


def match(job: Job) -> Match | None:
    """Returns the ranks that went on from a file that is not the last one."""
    found = [one for process in job.ranks for one in _of_rank(job, process)]
    if not found:
        return None
    first, last = found[0]
    mark, process = first.mark, first.process
    read = own(process, mark.path)[:1]
    at = f" at {job.line(read[0])}" if read else ""
    name = _ending(mark.file, last.name)
    said = [] if mark.counter is None else [f"{mark.counter} in it"]
    return training_match(
        job,
        [one.process for one, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The run went on from {name}{at}, though {_ending(last.name, mark.file)} had been written: as a text "
        "its name comes last, as a number it does not",
        evidence=[
            Evidence(
                source=f"files of one name but for the number, before {name} was read",
                observed=", ".join([f"{name} read", *said]),
                expected=_ending(last.name, mark.file)
                + (f", {last.mark.counter} in it" if last.mark.counter is not None else ""),
            )
        ],
        fix=r'choose by the number: max(names, key=lambda name: int(re.search(r"\d+", name)[0])), or fill it up with '
        'zeros in the name: f"{epoch:06d}"',
        places=(*_choosing(job, first, read), *read),
        confidence=Confidence.LIKELY,
    )


def _of_rank(job: Job, process: JobProcess) -> Iterator[tuple[Told[ReadState], Written]]:
    """Yields what a rank read before its first step, and the file that it should have read."""
    if not process.steps:
        return
    saves = [mark for one in job.processes for mark in one.prints.marks_of(SavedFile)]
    for mark in process.prints.marks_of(ReadState):
        own_number, written = _siblings(mark, [one for one in saves if one.ended_ns < mark.at_ns])
        later = _siblings(mark, [one for one in saves if one.began_ns > mark.at_ns])[1]
        if not written or not later or own_number is None:
            continue
        last = max(written, key=lambda one: one.number)
        is_last_text = all(one.name <= mark.file for one in written)
        if is_last_text and last.number > own_number and _is_ahead(last.mark, mark):
            yield Told(process, mark), last
            return


def _is_ahead(saved: SavedFile, read: ReadState) -> bool:
    if saved.counter is not None and read.counter is not None:
        return saved.counter > read.counter
    return read.optimizer


def _siblings(mark: ReadState, saves: list[SavedFile]) -> tuple[int | None, list[Written]]:
    """Returns the number in the name that was read by which others differ from it, and these."""
    parts = _NUMBERS.split(mark.file)
    found: dict[int, list[Written]] = {}
    for one in saves:
        name = one.file if one.file == mark.file else _TEMPORARY.sub("", one.file)
        theirs = _NUMBERS.split(name)
        if len(theirs) != len(parts) or theirs[::2] != parts[::2]:
            continue
        apart = [index for index in range(1, len(parts), 2) if theirs[index] != parts[index]]
        if len(apart) == 1:
            found.setdefault(apart[0], []).append(Written(int(theirs[apart[0]]), name, one))
    if not found:
        return None, []
    index = max(found)  # of the file, where that of its folder changes, too
    return int(parts[index]), found[index]


def _ending(file: str, other: str) -> str:
    """Returns the name of a file, with its folder where the two names are the same."""
    own_parts, others = file.split("/"), other.split("/")
    return own_parts[-1] if own_parts[-1] != others[-1] else "/".join(own_parts[-2:])


def _choosing(job: Job, told: Told[ReadState], read: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the line that chooses the file by its name, where it is near the one that reads it."""
    near = (
        one
        for pattern in _CHOOSES
        for one in nearest(job, told.process, pattern, read)[:1]
        if read and one.file == read[0].file and abs(one.line - read[0].line) <= NEAR
    )
    return tuple(one for one in near if "key=" not in text_of(job, one))[:1]

"""Ranks that share gradients number the same classes or words differently, in the order of a set.

What it does: takes checksums of the tables of each rank that number names from 0 on. It is told where ranks that train
one model have a table of the same names with other numbers, and the program makes it in the order of a set.

Why it matters: the order of a set of texts is another one in each process. Class 0 is "cat" on one rank and "dog" on
the next: each gradient teaches both, the loss stays high, and a model that is loaded tomorrow knows neither. No rank
sees anything wrong by itself. Left alone: tables of other names, orders that the program draws for each rank.

Fix: sort the names before they are numbered: `sorted(set(names))`.
"""

from __future__ import annotations

from itertools import islice

from diagnostics.core.findings import Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.wording import shown_ranks
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.samples.gradient_sharing import sharing_pairs
from diagnostics.dynamic.samples.set_orders import set_order_lines
from diagnostics.record.marks.object_marks import NumberedNames

CODE = "D937"
NAME = "names-numbered-apart"
CLASS = "rank-divergence"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

MOST_PAIRS = 64


def match(job: Job) -> Match | None:
    """Returns the ranks whose numbers mean other names."""
    for one, other, _ in islice(sharing_pairs(job), MOST_PAIRS):
        for mark, another in _differing(one, other):
            places = set_order_lines(job, one, mark.name)
            if places:
                return _told(job, (one, other), (mark, another), places)
    return None


def _differing(one: JobProcess, other: JobProcess) -> list[tuple[NumberedNames, NumberedNames]]:
    there = {(mark.path, mark.name, mark.names): mark for mark in other.prints.marks_of(NumberedNames)}
    pairs = [(mark, there.get((mark.path, mark.name, mark.names))) for mark in one.prints.marks_of(NumberedNames)]
    return [(mark, another) for mark, another in pairs if another is not None and another.numbers != mark.numbers]


def _told(
    job: Job,
    pair: tuple[JobProcess, JobProcess],
    marks: tuple[NumberedNames, NumberedNames],
    places: tuple[Frame, ...],
) -> Match:
    mark = marks[0]
    who = shown_ranks([one.rank for one in pair if one.rank is not None])
    return training_match(
        job,
        pair,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{who.capitalize()} number the {mark.length} names of {mark.path} "
        f"differently, while they share their gradients: the order is that of a set at {job.line(places[0])}",
        evidence=[
            Evidence(
                source=f"rank {one.rank}: {mark.path}",
                observed=", ".join(f"{name!r}: {number}" for name, number in told.first),
                expected="the same numbers on all ranks" if one is not pair[0] else "",
            )
            for one, told in zip(pair, marks, strict=True)
        ],
        fix=f"sort the names before they are numbered, at {job.line(places[0])}: sorted(set(...))",
        places=places,
    )

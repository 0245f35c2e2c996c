"""A list or an array is put into a memory as it is, and then emptied and filled again: all entries are the newest one.

What it does: flags a container that is appended to another one by itself, not as a copy, and that is then cleared, cut
to nothing or, where it is an array, written over: in the loop that keeps it, or in the methods of the object whose
attributes both are. Also where a method of the project keeps it, `self.memory.push(self.episode)`.

Why it matters: the memory holds one object many times. A batch of sixteen episodes from a replay memory is the newest
one sixteen times, a history of states the last state; the numbers look possible, and nothing is learned from the past.

Bad:

    self.memory.append(self.episode)
    self.episode.clear()

Good:

    self.memory.append(self.episode)
    self.episode = []

A holder that is emptied itself, that gives its entries out, or that is only put in order where a container is missing
in it, is left alone.

What it cannot see: containers that go through several functions before they are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.samples.refilled_containers import Put, Use, refilled_attributes, refilled_in_loop

CODE = "A339"
NAME = "kept-and-refilled"
SEVERITY = Severity.ERROR
RUN_CLASS = "duplicate-data"
WORDS = ("append", "appendleft", "clear", "fill", "fill_", "zero_", "zeros", "empty")
CHECKLIST = "what a memory keeps is a copy, or is not filled again"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the places at which a container that is kept is emptied, each once."""
    if file.is_test:
        return
    told: set[int] = set()
    for put, emptied, where in _found(file, project):
        if id(emptied.node) in told:
            continue
        told.add(id(emptied.node))
        changes = "is emptied here to be filled again" if emptied.empties else "is written over here"
        yield violation(
            project.file_with(where),
            emptied.node,
            f"'{put.container}' {changes}, and '{put.holder}' keeps that very object, not a copy: all of its entries "
            "are the newest one",
            f"keep a copy (list({put.container}), copy.deepcopy, clone()), or give the name a new one instead of "
            "emptying it",
            steps=(step(project.file_with(put.function), put.node, f"'{put.holder}' keeps '{put.container}' itself"),),
            confidence=Confidence.LIKELY,
        )


def _found(file: ProjectFile, project: Project) -> Iterator[tuple[Put, Use, Function]]:
    functions = project.functions_in(file)
    for function in functions:
        yield from ((put, emptied, function) for put, emptied in refilled_in_loop(function, project))
    for kind in {id(one): one for each in functions if (one := each.owner) is not None}.values():
        yield from refilled_attributes(kind, project)

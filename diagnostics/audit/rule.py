"""The contract between the audit engine and its rules: what a rule is given and gives back.

A rule is one file in a folder of `audit/` with
    CODE = "A101"                       A1xx order and set-up, A2xx collectives, A3xx autograd and memory, A4xx devices
                                        and files, A5xx lies, A6xx launch
    NAME = "loader-before-process-group"   kebab-case, unique; names the bad pattern, reads as "allow ..."
    SEVERITY = Severity.ERROR           ERROR breaks or falsifies a run, WARNING may, INFO is advice (with --advice)
    WORDS = ("DataLoader",)             optional: asked only about files that hold one of these words; those of
                                        operations of torch.distributed come from agent/shared/operations.py
    READS = frozenset({FileKind.SHELL}) optional, default Python
    CHECKLIST = "..."                   optional: the line of the best-practice table that this rule ticks or crosses
    SUBJECT = ("DistributedSampler",)   optional: the words of which one has to be used for that line to be ticked,
                                        where WORDS say more than that, or nothing
    RUN_CLASS = "wrong-loss"            optional, for what leaves no print on the host: what a watched run that ended
                                        well is said to be where this is found in its source
    RUN_WHEN = "resumed"                optional: and only where that run read a state before its first step; "several":
                                        where it did, or had several ranks; "ranks": where it had several
    def check(file: ProjectFile, project: Project) -> Iterator[Violation]
Its docstring is its documentation: what it does, why it matters, Bad, Good, what it cannot see. A rule reads `file` and
asks `project` about other files; it touches no disk. It yields nothing where nothing supports it; where it cannot
decide it says POSSIBLE, which is not shown unless asked for.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project_file import ProjectFile


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationStep:
    """One place on the way to a hit: "train.py:31" and what is there."""

    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Text to put in place of [start, end) of a file; (line from 1, column in UTF-8 bytes from 0), as ast counts."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One thing a rule found.

    `line` and `column` (in characters, from 1) are where a reviewer would comment. `title` is one sentence with the
    names seen: what is there and what comes of it. `steps` show how it is known, in the order in which it happens.
    `fix` is what to do.
    `edits` do it where that is safe: they change nothing for a program that is right.
    """

    file: ProjectFile
    line: int
    title: str
    fix: str
    column: int = 1
    steps: tuple[ExplanationStep, ...] = ()
    confidence: Confidence = Confidence.CONFIRMED
    severity: Severity | None = None  # where it is another one than the rule's
    edits: tuple[Edit, ...] = ()

    @property
    def where(self) -> str:
        """The place as "train.py:12:5"."""
        return f"{self.file.place(self.line)}:{self.column}"


def violation(
    file: ProjectFile,
    node: ast.AST,
    title: str,
    fix: str,
    *,
    steps: tuple[ExplanationStep, ...] = (),
    confidence: Confidence = Confidence.CONFIRMED,
    severity: Severity | None = None,
    edits: tuple[Edit, ...] = (),
) -> Violation:
    """Returns a hit at a syntax node."""
    line = getattr(node, "lineno", 1)
    before = file.line(line).encode()[: getattr(node, "col_offset", 0)]  # ast counts bytes
    return Violation(
        file=file,
        line=line,
        column=len(before.decode("utf-8", "ignore")) + 1,
        title=title,
        fix=fix,
        steps=steps,
        confidence=confidence,
        severity=severity,
        edits=edits,
    )


def step(file: ProjectFile, node: ast.AST, text: str) -> ExplanationStep:
    """Returns a step at a syntax node."""
    return ExplanationStep(place=file.place(getattr(node, "lineno", 1)), text=text)

"""Small rules for tests of what stands around rules, and projects for them to read."""

from __future__ import annotations

import ast
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from diagnostics.audit.rule import Edit, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile


def rule(code: str, check: object, **more: object) -> ModuleType:
    made = ModuleType(f"rule_{code}", f"What {code} finds.\n\nWhat it does: finds it.")
    about = {"CODE": code, "NAME": f"finds-{code.lower()}", "SEVERITY": Severity.ERROR, "check": check, **more}
    made.__dict__.update(about)
    return made


def calls_of_wait(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """A rule that finds every call of wait(), likely where it has an argument, and can put an argument in."""
    for call, _ in project.calls_in(file):
        if isinstance(call.func, ast.Name) and call.func.id == "wait":
            given = [*call.args, *call.keywords]
            at = (call.end_lineno or 0, (call.end_col_offset or 1) - 1)
            yield violation(
                file,
                call,
                "wait() waits for ever",
                "give it a timeout",
                steps=(step(file, file.tree.body[0], "the file begins here"),) if file.tree else (),
                confidence=Confidence.LIKELY if given else Confidence.CONFIRMED,
                edits=() if given else (Edit(start=at, end=at, text="timeout=60"),),
            )


WAITS = rule("A901", calls_of_wait, WORDS=("wait",), CHECKLIST="nothing waits for ever")
LINES = rule(
    "A902",
    lambda file, project: (
        Violation(file=file, line=number, title=f"line {number}", fix="none", severity=Severity.WARNING)
        for number, line in enumerate(file.lines, 1)
        if "odd" in line and not line.lstrip().startswith("#")
    ),
    READS=frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE}),
)


def fails(file: ProjectFile, project: Project) -> Iterator[Violation]:
    raise KeyError(f"no {file.shown}")


def dies(file: ProjectFile, project: Project) -> Iterator[Violation]:
    if file.shown == "b.py":
        os.kill(os.getpid(), signal.SIGKILL)
    yield Violation(file=file, line=1, title="alive", fix="none")


def python(shown: str, text: str) -> ProjectFile:
    return ProjectFile(shown, text.encode(), FileKind.PYTHON)


def project(folder: Path, **files: str) -> Path:
    """Writes files; `a__b_py` is a/b.py."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder

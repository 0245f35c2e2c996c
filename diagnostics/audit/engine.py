"""Asks every rule about every file; one that crashes on one file is reported and ends nothing."""

from __future__ import annotations

import contextlib
import gc
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from diagnostics.analysis.audited_file import AuditedFile, FileKind
from diagnostics.analysis.project import Project
from diagnostics.audit.files import Skipped
from diagnostics.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.hits import Hit

PYTHON_ONLY = frozenset({FileKind.PYTHON})
ORDER = {Confidence.CONFIRMED: 0, Confidence.LIKELY: 1, Confidence.POSSIBLE: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hit with the rule it comes from."""

    code: str
    name: str
    severity: Severity
    hit: Hit

    @property
    def finding(self) -> Finding:
        """The hit as every other part of the doctor shows findings."""
        hit = self.hit
        here = Evidence(source=hit.where, observed=hit.file.line(hit.line).strip())
        steps = tuple(Evidence(source=step.place, observed=step.text) for step in hit.steps)
        return Finding(
            code=self.code,
            name=self.name,
            severity=self.severity,
            title=hit.title,
            where=hit.where,
            evidence=steps or (here,),
            fix=Fix(text=hit.fix),
            confidence=hit.confidence,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """A rule that could not be asked about a file: nothing is known from it there."""

    code: str
    path: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What all rules found in all files, sorted by file and line."""

    found: tuple[Found, ...]
    files: tuple[AuditedFile, ...]
    skipped: tuple[Skipped, ...] = ()
    crashed: tuple[Crash, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every hit as a finding."""
        return tuple(one.finding for one in self.found)


def audit(files: Iterable[AuditedFile], rules: Mapping[str, ModuleType]) -> Audit:
    """Returns what the rules find in the files; those that do not parse are skipped with their problem."""
    files = tuple(files)
    with no_collection():
        readable = tuple(one for one in files if _is_readable(one))
        gc.freeze()
        project = Project(readable)
        found: list[Found] = []
        crashed: list[Crash] = []
        for file in readable:
            for code, rule in rules.items():
                if concerns(rule, file):
                    try:
                        found += asked(rule, file, project)
                    except Exception as error:
                        crashed.append(_crash(code, file, error))
    skipped = tuple(Skipped(path=one.shown, problem=one.problem) for one in files if one.problem)
    return Audit(found=in_order(found), files=readable, skipped=skipped, crashed=tuple(crashed))


def concerns(rule: ModuleType, file: AuditedFile) -> bool:
    """Returns whether a rule reads files of this kind and finds one of its words in it."""
    if file.kind not in getattr(rule, "READS", PYTHON_ONLY):
        return False
    words = getattr(rule, "WORDS", ())
    return not words or not file.words.isdisjoint(words)


def asked(rule: ModuleType, file: AuditedFile, project: Project) -> list[Found]:
    """Returns what one rule finds in one file."""
    return [
        Found(
            code=rule.CODE,
            name=rule.NAME,
            severity=rule.SEVERITY if hit.severity is None else hit.severity,
            hit=hit,
        )
        for hit in rule.check(file, project)
    ]


def in_order(found: Iterable[Found]) -> tuple[Found, ...]:
    """Returns hits by file, line, column and code; of several of one rule at one place the surest."""
    by_place: dict[tuple[str, int, int, str], Found] = {}
    for one in found:
        key = (one.hit.file.shown, one.hit.line, one.hit.column, one.code)
        if key not in by_place or ORDER[one.hit.confidence] < ORDER[by_place[key].hit.confidence]:
            by_place[key] = one
    return tuple(by_place[key] for key in sorted(by_place))


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Keeps the garbage collector still: over millions of syntax nodes it takes twenty times the work itself."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was:
            gc.enable()


def _is_readable(file: AuditedFile) -> bool:
    if file.kind is FileKind.PYTHON:
        return file.tree is not None
    return file.text is not None and not file.problem


def _crash(code: str, file: AuditedFile, error: Exception) -> Crash:
    reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return Crash(code=code, path=file.shown, reason=reason, detail="".join(traceback.format_exception(error)))

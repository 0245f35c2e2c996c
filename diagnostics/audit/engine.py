"""Asks every rule about every file; one that crashes on one file is reported and ends nothing."""

from __future__ import annotations

import contextlib
import gc
import traceback
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType

from diagnostics.audit import time_limit, workers
from diagnostics.audit.executed import asks_runs
from diagnostics.audit.files import Skipped
from diagnostics.audit.found import Audit, Crash, Found, in_order
from diagnostics.audit.rule import Violation
from diagnostics.audit.subjects import unseen
from diagnostics.audit.time_limit import OutOfTimeError, at_most, seconds_for
from diagnostics.core import redaction
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.yaml_nodes import is_deep
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

PYTHON_ONLY = frozenset({FileKind.PYTHON})


def audit(
    files: Iterable[ProjectFile], rules: Mapping[str, ModuleType], *, jobs: int = 1, limit_s: float | None = None
) -> Audit:
    """Returns what the rules find in the files; those that do not parse are skipped with their problem.

    A question that takes more than `limit_s` of CPU time is given up, by default what time_limit.py says.
    """
    files = tuple(files)
    with _no_collection():
        readable = tuple(one for one in files if _is_readable(one))
        tasks = [(code, file) for code, rule in rules.items() for file in readable if concerns(rule, file)]
        project = Project(readable)
        answers = _answers(tasks, rules, project, jobs, limit_s)
        asked_about: dict[str, list[ProjectFile]] = {code: [] for code in rules}
        for code, file in tasks:
            asked_about[code].append(file)
        missed = _unseen(asked_about, rules, project, limit_s)
    return Audit(
        found=in_order(found for several, _ in answers for found in several),
        files=readable,
        skipped=tuple(Skipped(path=one.shown, problem=one.problem) for one in files if one.problem),
        crashed=tuple(crash for _, several in answers for crash in several),
        asked={code: len(several) for code, several in asked_about.items()},
        unseen=missed,
    )


def _unseen(
    asked_about: Mapping[str, list[ProjectFile]],
    rules: Mapping[str, ModuleType],
    project: Project,
    patience_s: float | None,
) -> tuple[str, ...]:
    """Returns the rules whose subject is not seen; all where looking for it comes to no end: nothing is proven then."""
    limit_s = seconds_for(project.audited) if patience_s is None else patience_s
    with contextlib.suppress(Exception, OutOfTimeError), at_most(limit_s):
        return unseen(asked_about, rules, project)
    return tuple(code for code, several in asked_about.items() if several)


def _answers(
    tasks: list[workers.Task], rules: Mapping[str, ModuleType], project: Project, jobs: int, patience_s: float | None
) -> list[workers.Answer]:
    limit_s = seconds_for(project.audited) if patience_s is None else patience_s
    slow: set[str] = set()

    def ask(code: str, file: ProjectFile) -> workers.Answer:
        nonlocal project
        if file.shown in slow:
            return [], []
        try:
            with at_most(limit_s):
                return asked(rules[code], file, project), []
        except Exception as error:
            return [], [_crash(code, file, error)]
        except OutOfTimeError:
            slow.add(file.shown)
            # What was being worked out is half done: it is begun anew, without the file.
            project = Project(tuple(one for one in project.audited if one.shown not in slow))
            told = f"it came to no end in {limit_s:.3g} s of CPU time; {time_limit.THE_REST}"
            return [], [Crash(code=code, path=file.shown, reason=told)]

    if jobs > 1 and workers.pays(tasks):
        with contextlib.suppress(Exception, OutOfTimeError), at_most(limit_s):  # each rule that needs it will say so
            _ = project.calls_by_canonical  # what all rules need is worked out before the processes part
        running = {code for code, rule in rules.items() if asks_runs(rule)}
        return list(workers.answers(tasks, ask, jobs, running))
    return [ask(code, file) for code, file in tasks]


def concerns(rule: ModuleType, file: ProjectFile) -> bool:
    """Returns whether a rule reads files of this kind and finds one of its words in it."""
    if file.kind not in getattr(rule, "READS", PYTHON_ONLY):
        return False
    words = getattr(rule, "WORDS", ())
    return not words or not file.words.isdisjoint(words)


def asked(rule: ModuleType, file: ProjectFile, project: Project) -> list[Found]:
    """Returns what one rule finds in one file."""
    return [found_by(rule, hit) for hit in rule.check(file, project)]


def found_by(rule: ModuleType, hit: Violation) -> Found:
    """Returns a hit with its rule."""
    severity = rule.SEVERITY if hit.severity is None else hit.severity
    if severity is Severity.ERROR and hit.confidence is not Confidence.CONFIRMED:
        severity = Severity.WARNING  # an error fails a build: only what is proven on the program's own text may
    return Found(code=rule.CODE, name=rule.NAME, severity=severity, hit=hit)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keeps the garbage collector still: over millions of syntax nodes it takes twenty times the work itself."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # nor is it to look through them once more, afterwards
        if was:
            gc.enable()


def _is_readable(file: ProjectFile) -> bool:
    if file.kind is FileKind.PYTHON:
        return file.tree is not None
    if file.text is not None and file.kind is FileKind.YAML and is_deep(file.text):
        file.problem = "is nested so deeply that reading it may take the stack"
    return not file.problem


def _crash(code: str, file: ProjectFile, error: Exception) -> Crash:
    reason = redaction.line(f"{type(error).__name__}: {' '.join(str(error).split())}")
    detail = redaction.text("".join(traceback.format_exception(error)))
    return Crash(code=code, path=file.shown, reason=reason, detail=detail)

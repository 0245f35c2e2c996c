"""What an audit found: hits with their rules, files that could not be read, rules that crashed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from diagnostics.audit.files import Skipped
from diagnostics.audit.redacted_line import safe_line
from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.static.program.project_file import ProjectFile

ORDER = {Confidence.CONFIRMED: 0, Confidence.LIKELY: 1, Confidence.POSSIBLE: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hit with the rule it comes from."""

    code: str
    name: str
    severity: Severity
    hit: Violation

    @property
    def finding(self) -> Finding:
        """The hit as every other part of the doctor shows findings: its steps are the evidence."""
        hit = self.hit
        here = Evidence(source=hit.where, observed=safe_line(hit.file, hit.line).strip())
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
    """What the rules found in all files, by file and line.

    `ignored` are the hits that a comment or the settings excused, `known` those of the baseline, `unchanged` those on
    lines that are as they were; `asked` says of how many files each rule was asked, `unseen` names the rules whose
    subject stands in none of these.
    """

    found: tuple[Found, ...]
    files: tuple[ProjectFile, ...]
    skipped: tuple[Skipped, ...] = ()
    crashed: tuple[Crash, ...] = ()
    asked: Mapping[str, int] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    ignored: tuple[Found, ...] = ()
    known: tuple[Found, ...] = ()
    unchanged: tuple[Found, ...] = ()
    seconds: float = 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every hit as a finding."""
        return tuple(one.finding for one in self.found)

    def exit_code(self, *, strict: bool = False) -> int:
        """0 nothing at error level (`strict`: nor warning), 1 errors found, 3 a rule crashed or a named file is unread.

        What is only possible fails nobody's commit, nor does a folder with a file that cannot be read.
        """
        limit = Severity.WARNING if strict else Severity.ERROR
        if any(one.severity >= limit and one.hit.confidence is not Confidence.POSSIBLE for one in self.found):
            return 1
        return 3 if self.crashed or any(one.named for one in self.skipped) else 0


def in_order(found: Iterable[Found]) -> tuple[Found, ...]:
    """Returns hits by file, line, column and code; of several of one rule at one place the surest.

    Of those that are as sure the first by its words: processes answer in another order each time.
    """
    by_place: dict[tuple[str, int, int, str], Found] = {}
    for one in found:
        key = (one.hit.file.shown, one.hit.line, one.hit.column, one.code)
        if key not in by_place or _surest_first(one) < _surest_first(by_place[key]):
            by_place[key] = one
    return tuple(by_place[key] for key in sorted(by_place))


def _surest_first(one: Found) -> tuple[int, int, str, str, tuple[tuple[str, str], ...]]:
    hit = one.hit
    steps = tuple((step.place, step.text) for step in hit.steps)
    return ORDER[hit.confidence], -one.severity, hit.title, hit.fix, steps

"""What a check says: severities, evidence, fixes, findings, outcomes and the verdict over them.

Standard library only: every part of the doctor may import this, also where torch is broken.
All classes are frozen, slotted and keyword-only; JSON is `to_json(value)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

ONLY_ON_PAGES = "only-on-pages"  # metadata of a field that is drawn, and is no part of any report.json


class Severity(IntEnum):
    """How bad a finding is; the order is the order of `max`."""

    INFO = 0
    WARNING = 1
    ERROR = 2


class Confidence(StrEnum):
    """CONFIRMED is measured or proven; a LIKELY or POSSIBLE finding is a guess and says so."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Role(StrEnum):
    """Whether a finding started the trouble (root) or followed from another one (cascade)."""

    ROOT = "root"
    CASCADE = "cascade"


class Status(StrEnum):
    """How one check ended. Only DONE may count as a pass."""

    DONE = "done"
    SKIPPED = "skipped"
    TIMED_OUT = "timed-out"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One observation that anyone can repeat.

    `source` is how to repeat it: a file:line, a command, a counter. `observed` and `expected`
    carry their units.
    """

    source: str
    observed: str
    expected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """What to do about a finding; destructive commands are shown and never run."""

    text: str
    commands: tuple[str, ...] = ()
    destructive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, with its proof and its remedy.

    `where` names the culprit: a rank, a path, a key, a file:line. `name` is kebab-case.
    Raises ValueError without evidence: a finding nobody can check is a rumour.
    """

    code: str
    name: str
    severity: Severity
    title: str
    where: str
    evidence: tuple[Evidence, ...]
    fix: Fix | None = None
    confidence: Confidence = Confidence.CONFIRMED
    role: Role = Role.ROOT

    def __post_init__(self) -> None:
        if not self.evidence:
            raise ValueError(f"finding {self.code} {self.name} has no evidence")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one check ended: a check that did not run is not a pass.

    `title` is the line shown for it (what was seen when all is well), `reason` says why it was
    skipped, timed out or crashed, `detail` holds long material such as a traceback, and `measured`
    plain JSON values with the unit in the key (`latency_us`).
    """

    code: str
    name: str
    stage: str
    status: Status
    title: str
    seconds: float
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    detail: str = ""
    applies: bool = True  # False where a skipped check has nothing to look at here, and holds no other one up
    measured: Mapping[str, Any] = field(default_factory=dict)

    @property
    def worst(self) -> Severity | None:
        """The highest severity found, None where nothing was found."""
        return max((finding.severity for finding in self.findings), default=None)

    @property
    def passed(self) -> bool:
        """Ran to its end and found nothing at error level."""
        return self.status is Status.DONE and self.worst is not Severity.ERROR

    @property
    def undecided(self) -> bool:
        """Crashed or timed out, and so says nothing about the machine."""
        return self.status in (Status.CRASHED, Status.TIMED_OUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """All outcomes of one run of checks; the exit code is derived here and nowhere else."""

    outcomes: tuple[Outcome, ...]
    seconds: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in the order of the checks."""
        return tuple(finding for outcome in self.outcomes for finding in outcome.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings at error level."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def undecided(self) -> tuple[Outcome, ...]:
        """The checks that crashed or timed out."""
        return tuple(outcome for outcome in self.outcomes if outcome.undecided)

    def exit_code(self, *, strict: bool = False) -> int:
        """0 nothing at error level (`strict`: nor warning), 1 errors found, 3 undecided."""
        limit = Severity.WARNING if strict else Severity.ERROR
        if any(finding.severity >= limit for finding in self.findings):
            return 1
        return 3 if self.undecided else 0


def to_json(value: Any) -> Any:
    """Returns a finding, outcome or verdict as plain dicts, lists, strings and numbers."""
    if isinstance(value, Severity):
        return value.name.lower()
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        kept = (name for name, one in value.__dataclass_fields__.items() if not one.metadata.get(ONLY_ON_PAGES))
        return {name: to_json(getattr(value, name)) for name in kept}
    return value

"""The contract between the diagnosis engine and its signatures: what a known failure is given and gives back.

A signature is one file in a folder of `diagnosis/` with
    CODE = "D201"             one letter, three digits: D1xx launch and environment, D2xx crash, D3xx hang, D4xx lie,
                              D5xx silent-wrong, D6xx wrapper, D7xx data at rest, D8xx slow,
                              D9xx trains wrongly, as each rank by itself shows
    NAME = "module-segfaults" kebab-case, unique
    CLASS = "native-crash"    one of FAILURE_CLASSES
    EXAMINES = Examines.FAILED
    WHILE_RUNNING = True      optional: asked about a job that runs on, too (see while_running.py)
    def match(case: Case) -> Match | None
It reads the Case and nothing else. Where nothing supports it, it returns None: unknown is an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnostics.core.failure_classes import FAILURE_CLASSES, JobOutcome
from diagnostics.core.findings import Confidence, Finding, Role


class AppliesTo(StrEnum):
    """Which jobs a signature is asked about; a job that ended well is only shown to those that look for lies."""

    FAILED = "failed"  # a code other than 0, a signal, or ended by the doctor after a stall
    SUCCEEDED = "succeeded"  # the job itself said 0
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A known failure that the case supports.

    `finding` carries CODE, NAME, the cause in one sentence with the values seen (title), proof, fix, confidence,
    and role. `explains` are the pids whose failure this accounts for: a specific match takes the place of a
    generic one about the same process. `began_s` is when the initiating event happened, for ordering.
    """

    finding: Finding
    failure_class: str
    outcome: JobOutcome
    culprit_ranks: tuple[int, ...] = ()
    victim_ranks: tuple[int, ...] = ()  # that it made suffer, beside those that the Case knows: ranks that waited
    locations: tuple[str, ...] = ()  # "train.py:31", best first, relative to the job's folder; [0] is the one to change
    module: str = ""  # dotted path of the nn.Module, "" where none was involved
    explains: tuple[int, ...] = ()
    began_s: float | None = None
    generic: bool = False  # "some exception", "some signal": yields to a specific match about the same process
    hidden_by: str = ""  # of a failure behind exit code 0: what took it for success, a clause behind "and"
    unhide: str = ""  # what lets such a failure through

    def __post_init__(self) -> None:
        if self.failure_class not in FAILURE_CLASSES:
            raise ValueError(f"{self.finding.code}: {self.failure_class!r} is no failure class")

    @property
    def is_root(self) -> bool:
        """Whether this started the trouble."""
        return self.finding.role is Role.ROOT

    @property
    def certainty(self) -> int:
        """2 confirmed, 1 likely, 0 possible."""
        return {Confidence.CONFIRMED: 2, Confidence.LIKELY: 1, Confidence.POSSIBLE: 0}[self.finding.confidence]

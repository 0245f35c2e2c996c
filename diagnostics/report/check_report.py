"""What a report is made of; report sections get it and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnostics.core.findings import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """One run of preflight, ready to be written down.

    `command` repeats it in a shell. `facts` names what was examined (python, ranks, CONFIG), `variables`
    the environment variables that concern distributed training, secrets already hidden.
    """

    verdict: Verdict
    command: str
    started: str  # local time with offset, ISO 8601
    doctor_version: str
    exit_code: int
    facts: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False
    sentence: str = ""  # the verdict, where more is known than that something was found
    hosts: tuple[tuple[str, ...], ...] = ()  # a table: its head, then a row for each host

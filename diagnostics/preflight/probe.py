"""The contract between the preflight engine and its probes: what a probe is given and gives back.

A probe is one file in a folder of `preflight/` with
    CODE = "P101"             one letter, three digits; the first digit is its stage's number
    NAME = "python-and-torch" kebab-case
    STAGE = Stage.HOST
    REQUIRES = ("P301",)      codes that must have passed; else this probe is skipped, not failed
    def probe(machine: Machine, config: PreflightConfig) -> ProbeResult
A probe raises Skip where it does not apply, returns findings where something is wrong, and lets any
other exception pass: the engine makes a CRASHED outcome of it. `ChildTimeout` becomes TIMED_OUT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Finding
from diagnostics.core.thresholds import Thresholds
from diagnostics.hosts.survey import Survey


class Stage(StrEnum):
    """The stages of preflight, in the order in which they run."""

    HOST = "host"
    LAUNCH = "launch"
    RENDEZVOUS = "rendezvous"
    COLLECTIVES = "collectives"
    DEVICE = "device"
    DATA = "data"
    MODEL = "model"
    DRY_RUN = "dry-run"
    HOSTS = "hosts"


class Skip(Exception):  # noqa: N818 - a way to end a probe, not an error
    """This probe does not apply here; the argument is the reason shown."""


class NotApplicable(Skip):
    """There is nothing here for this probe to look at, and so nothing that could hold up another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What a probe saw. `title` is the one line shown for it when all is well."""

    title: str
    findings: tuple[Finding, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightConfig:
    """Everything a probe may want to know besides the machine."""

    python: str  # interpreter for children that need torch
    nproc: int
    backend: str  # auto | nccl | gloo
    record_dir: Path  # this report's folder; long material of a probe goes below it
    thresholds: Thresholds
    port: int | None = None
    job: JobDescription | None = None  # set when a CONFIG was given
    script: tuple[str, ...] | None = None  # the user's launch line, set by --script
    hosts: Survey | None = None  # set by --hosts
    last_good: Mapping[str, Any] = field(default_factory=dict)  # measurements of the last passed run

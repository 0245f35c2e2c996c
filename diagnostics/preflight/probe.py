"""The contract between the preflight engine and its probes: what a probe is given and gives back.

A probe is one file in `probes/` with
    CODE = "P101"             one letter, three digits; the first digit is its stage's number
    NAME = "python-and-torch" kebab-case
    STAGE = Stage.HOST
    REQUIRES = ("P301",)      codes that must have passed; else this probe is skipped, not failed
    def probe(machine: Machine, config: PreflightConfig) -> Result
A probe raises Skip where it does not apply, returns findings where something is wrong, and lets any
other exception pass: the engine makes a CRASHED outcome of it. `ChildTimeout` becomes TIMED_OUT.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from diagnostics.core.findings import Finding


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


class Skip(Exception):  # noqa: N818 - a way to end a probe, not an error
    """This probe does not apply here; the argument is the reason shown."""


class NotApplicable(Skip):
    """There is nothing here for this probe to look at, and so nothing that could hold up another one."""


class ChildTimeout(Exception):  # noqa: N818 - becomes the outcome of that name
    """A child did not answer within its deadline; the argument says what was seen of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a probe saw. `title` is the one line shown for it when all is well."""

    title: str
    findings: tuple[Finding, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDescription:
    """What a trainer says about one of its configurations, see 'Job adapters' in ARCHITECTURE.md.

    `module` is the adapter's module, run as `python -m MODULE VERB CONFIG`; paths are absolute.
    """

    module: str
    config: Path
    overrides: tuple[str, ...] = ()
    name: str = ""
    nproc: int = 2
    backend: str = "auto"
    port: int | None = None
    threads_per_rank: int = 1
    workers: int = 0  # loader processes of one rank
    prefetch: int = 2  # batches each of them prepares
    batch_bytes: int = 0  # of one rank's batch
    disk_bytes: int = 0  # what the run is going to write
    output_dir: Path | None = None
    cache_dirs: tuple[Path, ...] = ()
    data_files: tuple[Path, ...] = ()
    precision: str = "float32"
    models: tuple[str, ...] = ()  # names of those that its verb `inspect` hands over, in their order
    env: Mapping[str, str] = field(default_factory=dict)


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
    last_good: Mapping[str, Any] = field(default_factory=dict)  # measurements of the last passed run


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Limits and deadlines; configs/doctor.yaml repeats each with its reason and overrides it."""

    child_deadline_s: float = 20.0  # one child of a probe; a cold `import torch` took 1.7 s, 7 s under load
    import_deadline_s: float = 60.0  # `import torch` from a cold or network disk
    rendezvous_deadline_s: float = 30.0
    data_deadline_s: float = 60.0  # cache scan, or ranks that open and read the data
    model_deadline_s: float = 120.0
    dry_run_deadline_s: float = 180.0
    signature_deadline_s: float = 20.0  # one known failure, looked for in a record; the slowest was seen to take 2 s
    diagnosis_deadline_s: float = 120.0  # all of them, reading and the report
    max_data_wait_share: float = 0.3  # of a step; above, the GPUs wait for the data
    min_free_disk_bytes: int = 1 << 30
    min_free_memory_bytes: int = 1 << 30
    fds_per_worker: int = 64  # descriptors one loader worker and its queues were seen to hold
    slower_than_last_good: float = 3.0  # latency ratio that is worth a warning
    max_temperature_c: int = 85

"""From what the user named to what the probes are told; and preflight as one call for trainers."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from diagnostics.adapter import describe
from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Verdict
from diagnostics.core.thresholds import Thresholds, read_thresholds
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.machine.this import open_machine
from diagnostics.preflight import baseline
from diagnostics.preflight.engine import QUICK_STAGES, PreflightObserver, run_preflight
from diagnostics.preflight.probe import PreflightConfig, Stage

RANKS_WITHOUT_GPU = 2
REPORTS = Path("reports")


def settle(
    machine: Machine,
    *,
    python: str,
    record_dir: Path,
    thresholds: Thresholds,
    described: JobDescription | None = None,
    nproc: int | None = None,
    backend: str | None = None,
    script: tuple[str, ...] | None = None,
    reports: Path = REPORTS,
    hosts: Survey | None = None,
) -> PreflightConfig:
    """Returns what the probes are told: the user's wish before the job's before the machine's.

    `reports` is the folder in which measurements of earlier runs are kept.
    """
    ranks = nproc or (described.nproc if described else default_nproc(machine))
    wanted = backend or (described.backend if described else "auto")
    return PreflightConfig(
        python=python,
        nproc=ranks,
        backend=wanted,
        record_dir=record_dir,
        thresholds=thresholds,
        port=described.port if described else None,
        job=described,
        script=script,
        hosts=hosts,
        last_good=baseline.read(reports, baseline.key(ranks, wanted)),
    )


def default_nproc(machine: Machine) -> int:
    """Returns one rank a GPU, two where there is none."""
    try:
        return len(machine.gpus.devices()) or RANKS_WITHOUT_GPU
    except MachineError:
        return RANKS_WITHOUT_GPU


def check(
    config: Path,
    overrides: Sequence[str] = (),
    *,
    stages: Sequence[Stage] | None = QUICK_STAGES,
    skip: Collection[str] = (),
    nproc: int | None = None,
    backend: str | None = None,
    observer: PreflightObserver | None = None,
) -> Verdict:
    """Examines the machine for one CONFIG under this very Python; what a trainer calls before it starts.

    Long material of failed checks stays in a temporary folder that the evidence names. Raises UsageError
    for a wrong CONFIG, preflight.Interrupted on Ctrl-C.
    """
    folder = Path(tempfile.mkdtemp(prefix="ups-doctor-"))
    worth_keeping = False
    try:
        with open_machine(sys.executable) as machine:
            described = describe.describe(config, overrides, python=sys.executable, child=machine.child)
            settled = settle(
                machine,
                python=sys.executable,
                record_dir=folder,
                thresholds=read_thresholds(),
                described=described,
                nproc=nproc,
                backend=backend,
            )
            verdict = run_preflight(settled, machine, observer, stages, skip)
        worth_keeping = verdict.exit_code() != 0
        return verdict
    finally:
        if not worth_keeping:
            shutil.rmtree(folder, ignore_errors=True)

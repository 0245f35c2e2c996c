"""From a model stage of preflight that fails to the bisection of that model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from diagnostics.core.files import new_folder
from diagnostics.core.findings import Severity, Verdict
from diagnostics.preflight.probe import PreflightConfig, Stage

NOT_THE_MODEL = ("config-refused", "killed-externally")


def model_fails(verdict: Verdict) -> bool:
    """Returns whether the model itself was seen to fail, which a bisection can look into."""
    return any(
        finding.severity is Severity.ERROR and finding.name not in NOT_THE_MODEL
        for outcome in verdict.outcomes
        if outcome.stage == Stage.MODEL
        for finding in outcome.findings
    )


def run_bisection(config: Path, settled: PreflightConfig, reports: Path, *, json: bool) -> int:
    """Runs `ups-doctor bisect-model CONFIG` on as many ranks and returns its exit code. Raises OSError.

    Where stdout belongs to preflight's JSON, what it prints goes to stderr.
    """
    # -P: the user's folder may hold a package of our name.
    own = [sys.executable, "-P", "-c", "from diagnostics.cli import main; main()", "bisect-model"]
    folder = new_folder(reports, kind="bisect")
    words = [*own, str(config), "--nproc", str(settled.nproc), "--python", settled.python, *_sets(settled)]
    process = subprocess.Popen([*words, "--report-dir", str(folder)], stdout=sys.stderr if json else None)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise


def _sets(settled: PreflightConfig) -> Iterator[str]:
    for override in settled.job.overrides if settled.job is not None else ():
        yield from ("--set", override)

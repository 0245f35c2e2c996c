"""A PreflightConfig whose job is tests/zoo/fake_job.py with one fault."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from diagnostics.adapter.description import JobDescription
from diagnostics.core.thresholds import Thresholds
from diagnostics.preflight.probe import PreflightConfig

ZOO = Path(__file__).parent.parent / "zoo"


def config_of(fault: str, folder: Path, *, nproc: int = 2, deadline_s: float = 30.0, **rest: Any) -> PreflightConfig:
    """Returns the configuration of preflight for a job with this fault; its record lies in `folder`."""
    path = folder / "job.txt"
    path.write_text(fault)
    job = JobDescription(
        module="fake_job", config=path, nproc=nproc, backend="gloo", workers=2, env={"PYTHONPATH": str(ZOO)}
    )
    return PreflightConfig(
        python=sys.executable,
        nproc=nproc,
        backend="gloo",
        record_dir=folder,
        thresholds=Thresholds(data_deadline_s=deadline_s, dry_run_deadline_s=deadline_s),
        job=job,
        **rest,
    )

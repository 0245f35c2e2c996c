"""The environment variables that concern distributed training; values that look like secrets are hidden."""

from __future__ import annotations

from diagnostics.core.markdown import block
from diagnostics.report.check_report import CheckReport

ORDER = 60
TITLE = "Environment variables"


def render(report: CheckReport) -> list[str]:
    """Returns NAME=value lines."""
    if not report.variables:
        return ["None of NCCL_*, TORCH_*, GLOO_*, CUDA_*, OMP_*, MASTER_* is set."]
    return block([f"{name}={value}" for name, value in report.variables.items()])

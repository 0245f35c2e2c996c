"""A matmul on every rank's device agrees with float64 on the CPU.

What it does: multiplies two fixed 256 x 256 matrices in each float dtype in use and compares with the float64 product
of the same rounded inputs.

Why it matters: a device that computes wrongly raises no error; its rank poisons the gradients of all others.

Fix: repeat it; an error that stays is a sick device or a wrong library build. Take the GPU out of the job.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence, Finding, Severity
from diagnostics.machine.contract import Machine
from diagnostics.preflight import rank_tasks
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.rank_values import SICK

CODE = "P502"
NAME = "matmul-accuracy"
STAGE = Stage.DEVICE
REQUIRES: tuple[str, ...] = ()

# Relative error of the whole product. float32 leaves room for TF32 (10 bits of mantissa), should it be switched on.
TOLERANCES = {"float64": 1e-12, "float32": 1e-3, "float16": 2e-3, "bfloat16": 1e-2}


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each rank and dtype outside its tolerance."""
    ranks, findings, place = rank_tasks.compute(machine, config, CODE)
    wrong = tuple(
        _finding(rank.rank, dtype, error)
        for rank in ranks
        for dtype, error in rank.answer.get("errors", {}).items()
        if not error <= TOLERANCES[dtype]  # not >: a NaN is wrong
    )
    return ProbeResult(title=f"matmul right within rounding on {place}", findings=(*findings, *wrong))


def _finding(rank: int, dtype: str, error: float) -> Finding:
    return Finding(
        code=CODE,
        name="matmul-inaccurate",
        severity=Severity.ERROR,
        title=f"rank {rank}'s matmul in {dtype} is off by {error:.1e} of its norm, "
        f"rounding explains {TOLERANCES[dtype]:.0e}",
        where=f"rank {rank}",
        evidence=(
            Evidence(
                source=f"256 x 256 matmul in {dtype} against float64",
                observed=f"relative error {error:.3e}",
                expected=f"at most {TOLERANCES[dtype]:.0e}",
            ),
        ),
        fix=SICK,
    )

"""How the probes of ranks run their tasks: backend, count, deadline, and what a failed rank becomes. No probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostics.core.findings import Finding
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import NOTHING, ChildTimeout, MachineError, RankResult, TorchFacts
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip
from diagnostics.preflight.rank_errors import rank_failures, stuck_at
from diagnostics.preflight.rank_values import unsupported, wrong_values

DTYPES_ALWAYS = ("float32", "float64", "int64")


def torch_of(machine: Machine) -> TorchFacts:
    """Returns what torch said of itself. Raises Skip where it does not import: P110 reports that."""
    try:
        return machine.ranks.torch_facts()
    except MachineError as error:
        raise Skip(f"needs torch: {error}") from error


def backend_and_ranks(machine: Machine, config: PreflightConfig) -> tuple[str, int]:
    """Returns the backend the job would get, and how many ranks to try it with: NCCL takes one rank a GPU."""
    torch = torch_of(machine)
    if config.backend != "gloo" and torch.nccl_available and torch.device_count:
        return "nccl", min(config.nproc, torch.device_count)
    return "gloo", config.nproc


def dtypes_in_use(config: PreflightConfig) -> list[str]:
    """Returns the dtypes that gradients, counters and metrics of the job have."""
    precision = config.job.precision if config.job is not None else "float32"
    return [*DTYPES_ALWAYS, *([precision] if precision in ("bfloat16", "float16") else [])]


def run(
    machine: Machine,
    config: PreflightConfig,
    task: str,
    *,
    backend: str,
    nproc: int,
    arguments: Mapping[str, Any] = NOTHING,
    env: Mapping[str, str] = NOTHING,
    deadline_s: float | None = None,
) -> list[RankResult]:
    """Returns how each rank of a task ended, in the environment that the job would have.

    The deadline is that of a rendezvous unless another one is given. Raises ChildTimeout naming where
    ranks stood where none of them said why, and Skip without torch.
    """
    torch_of(machine)
    deadline_s = deadline_s or config.thresholds.rendezvous_deadline_s
    of_the_job = dict(config.job.env) if config.job is not None else {}
    results = machine.ranks.run_task(
        task, nproc, backend=backend, deadline_s=deadline_s, arguments=arguments, env={**of_the_job, **env}
    )
    late = [result for result in results if result.timed_out]
    told = [result for result in results if result.returncode != 0 and not result.ended]  # these say why
    if late and not told:
        places = "; ".join(f"rank {result.rank} stood in {stuck_at(result.stderr) or 'native code'}" for result in late)
        raise ChildTimeout(f"no answer within {deadline_s:g} s on {backend}: {places}")
    return results


def failures(code: str, results: Sequence[RankResult], doing: str) -> tuple[Finding, ...]:
    """Returns a finding for each cause why ranks failed."""
    return rank_failures(code, results, doing=doing, rerun=rerun(code))


def rerun(code: str) -> str:
    """Returns the command that repeats one probe's stage."""
    stages = {"3": "rendezvous", "4": "collectives", "5": "device"}
    return f"ups-doctor preflight --stages {stages[code[1]]} --json"


def right_values(
    machine: Machine, config: PreflightConfig, code: str, operation: str, *, backend: str, nproc: int
) -> ProbeResult:
    """Returns how one collective of task `values` went in the dtypes in use."""
    dtypes = dtypes_in_use(config)
    arguments = {"operation": operation, "dtypes": dtypes}
    ranks = run(machine, config, "values", backend=backend, nproc=nproc, arguments=arguments)
    findings = failures(code, ranks, f"{operation} on {backend}")
    return ProbeResult(
        title=f"{operation} right on {nproc} ranks of {backend} in {', '.join(dtypes)}",
        findings=(
            *findings,
            *wrong_values(code, operation, ranks),
            *unsupported(code, operation, backend, ranks),
        ),
    )


FLOATS = ("float32", "float64", "bfloat16", "float16")
BLOCK_BYTES = 64 << 20  # of one CPU rank; a GPU rank takes a quarter of what is free


def compute(machine: Machine, config: PreflightConfig, code: str) -> tuple[list[RankResult], tuple[Finding, ...], str]:
    """Returns what each rank's device computed, the findings about ranks that failed, and where it ran."""
    backend, nproc = backend_and_ranks(machine, config)
    dtypes = [name for name in dtypes_in_use(config) if name in FLOATS]
    arguments = {"dtypes": dtypes, "block_bytes": BLOCK_BYTES}
    ranks = run(machine, config, "compute", backend=backend, nproc=nproc, arguments=arguments)
    findings = failures(code, ranks, "device work")
    place = ranks[0].answer.get("device", "CPU")
    return ranks, findings, "the CPU, no GPU in use" if place == "CPU" else f"{nproc} x {place}"

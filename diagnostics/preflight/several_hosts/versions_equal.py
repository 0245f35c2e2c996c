"""Python, torch, CUDA, NCCL or the driver of a host differs from the others'.

What it does: reads the versions on each host from files, without importing torch: Python, torch with its CUDA and its
commit, the NCCL package, NVIDIA's driver, the GPUs.

Why it matters: ranks of different torch or NCCL versions speak different protocols: they hang at the first collective,
or end with an error that names no version; pickled objects of one Python do not load in another.

Fix: install the same environment everywhere: one image, or `pip install -r` of one lock file.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.hosts.survey import Survey
from diagnostics.machine.contract import Machine
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.preflight.several_hosts.wording import different, named, sides, survey_of, usual

CODE = "P905"
NAME = "versions-equal"
STAGE = Stage.HOSTS
REQUIRES: tuple[str, ...] = ()

# What a difference means for a job, the most telling first.
KINDS = {
    "torch": ("torch", Severity.ERROR, "pip show torch"),
    "cuda": ("torch's CUDA", Severity.ERROR, "python -c 'import torch; print(torch.version.cuda)'"),
    "nccl": ("NCCL", Severity.ERROR, "pip list | grep nccl"),
    "python": ("Python", Severity.WARNING, "python -V"),
    "driver": ("NVIDIA's driver", Severity.WARNING, "cat /proc/driver/nvidia/version"),
    "gpus": ("the GPUs", Severity.WARNING, "nvidia-smi -L"),
}


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each version that differs."""
    survey = survey_of(config)
    shown = [
        f"{KINDS[kind][0]} {value}"
        for kind in ("python", "torch", "nccl", "driver")
        if (value := usual(_of(survey, kind)))
    ]
    return ProbeResult(
        title=f"the same versions on all hosts: {', '.join(shown)}",
        findings=tuple(_differences(survey)),
        measured={kind: usual(_of(survey, kind)) or "" for kind in KINDS},
    )


def _of(survey: Survey, kind: str) -> dict[int, str]:
    return {place: about.versions.get(kind, "") for place, about in survey.about.items()}


def _differences(survey: Survey) -> Iterator[Finding]:
    told: set[int] = set()
    for kind, (name, severity, source) in KINDS.items():
        values = _of(survey, kind)
        others = different(values)
        if not others or (kind in ("cuda", "nccl") and {*others} <= told):  # they come with another torch
            continue
        told |= {*others} if kind == "torch" else set()
        if kind == "python" and len({value.rpartition(".")[0] for value in values.values()}) > 1:
            severity = Severity.ERROR
        yield Finding(
            code=CODE,
            name="versions-differ",
            severity=severity,
            title=f"{name} differs between hosts: {sides(survey, values)}",
            where=named(survey, others) if usual(values) is not None else "no majority",
            evidence=(
                Evidence(source=f"{source}  # on each host", observed=sides(survey, values), expected="one version"),
            ),
            fix=Fix(text="install the same environment on all hosts"),
        )

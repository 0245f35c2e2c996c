"""Variables of the shell that break the ranks' meeting.

What it does: reads the variables that torch, gloo and NCCL take from the environment: launcher variables that were
exported by hand, and network interfaces that are named but do not exist.

Why it matters: an exported RANK or WORLD_SIZE makes a script that is started without a launcher wait for ranks that
nobody starts; an interface that does not exist ends every rank while it connects.

Fix: unset the variable in the shell, its start-up files or the container, or name an interface that exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Stage
from diagnostics.static.launch_files.launch_line import read_launch_line
from diagnostics.static.program.source_file import SourceFile

CODE = "P301"
NAME = "rendezvous-environment"
STAGE = Stage.RENDEZVOUS
REQUIRES: tuple[str, ...] = ()

OF_A_LAUNCHER = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
STARTED_BY = ("TORCHELASTIC_RUN_ID", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")  # then they belong there
_ANY_SCRIPT = "a script started without a launcher waits for those ranks"
_NOBODY = "the script begins a process group, and waits for ranks that nobody starts: no launcher starts it"
INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each variable that names what is not there."""
    environ = {**machine.environ, **(config.job.env if config.job is not None else {})}
    existing = [card.name for card in machine.network.interfaces()]
    nccl = config.backend != "gloo" and _has_gpus(machine)  # else nothing reads what NCCL is told
    findings = [*_exported(environ, config.script or ()), *_interfaces(environ, existing, nccl=nccl)]
    return ProbeResult(title="no variable of the shell stands in the way of the ranks", findings=tuple(findings))


def _has_gpus(machine: Machine) -> bool:
    try:
        return bool(machine.gpus.devices())
    except MachineError:  # no driver to ask
        return False


def _exported(environ: dict[str, str], script: Sequence[str]) -> list[Finding]:
    found = {name: environ[name] for name in OF_A_LAUNCHER if name in environ}
    if not found or any(name in environ for name in STARTED_BY):
        return []
    shown = ", ".join(f"{name}={value}" for name, value in found.items())
    waits = found.get("WORLD_SIZE", "1") != "1" and "RANK" in found and _begins_a_group(script)
    return [
        Finding(
            code=CODE,
            name="launcher-variables-exported",
            severity=Severity.ERROR if waits else Severity.WARNING,
            title=f"{shown} is exported in this shell; {_NOBODY if waits else _ANY_SCRIPT}",
            where=", ".join(found),
            evidence=(Evidence(source="env", observed=shown, expected="set by the launcher only"),),
            fix=Fix(text="unset what the launcher sets", commands=(f"unset {' '.join(found)}",)),
        )
    ]


def _begins_a_group(script: Sequence[str]) -> bool:
    """Whether a script that is started by no launcher makes a process group."""
    line = read_launch_line(script) if script else None
    name = next((word for word in line.program if word.endswith(".py")), "") if line and not line.launcher else ""
    text = SourceFile(Path(name)).text if name else ""
    return "init_process_group(" in text


def _interfaces(environ: dict[str, str], existing: list[str], *, nccl: bool) -> list[Finding]:
    findings = []
    for variable in INTERFACES:
        missing = [name for name in _named(environ.get(variable, "")) if not _matches(name, existing, variable)]
        if missing:
            read = nccl or not variable.startswith("NCCL")
            findings.append(_missing(variable, environ[variable], missing, existing, read=read))
    return findings


def _named(value: str) -> list[str]:
    """Returns the interfaces a variable asks for; `^docker` excludes, and so asks for none."""
    return [] if value.startswith("^") else [name.strip() for name in value.split(",") if name.strip()]


def _matches(name: str, existing: list[str], variable: str) -> bool:
    """NCCL takes prefixes, `=eth0` an exact name, and `eth0:port`; gloo takes exact names."""
    wanted = name.removeprefix("=").partition(":")[0]
    if variable.startswith("NCCL") and not name.startswith("="):
        return any(one.startswith(wanted) for one in existing)
    return wanted in existing


def _missing(variable: str, value: str, missing: list[str], existing: list[str], *, read: bool) -> Finding:
    return Finding(
        code=CODE,
        name="network-interface-missing",
        severity=Severity.ERROR if read else Severity.WARNING,
        title=f"{variable}={value} names {', '.join(missing)}, which this machine does not have; "
        f"it has {', '.join(existing)}",
        where=variable,
        evidence=(
            Evidence(
                source="ip -brief address", observed=f"interfaces {', '.join(existing)}", expected=f"{variable}={value}"
            ),
        ),
        fix=Fix(text="name an interface that exists, or unset it", commands=(f"unset {variable}",)),
    )

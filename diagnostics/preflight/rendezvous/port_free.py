"""The port on which the ranks meet is taken.

What it does: tries to listen on the port of the run: the configuration's, the one in the launch line given
with --script (torchrun takes 29500 where none is said), or MASTER_PORT. Where it is taken it names the
holder's pid, command and user, and a port that is free now. Where none is configured a free one is taken.

Why it matters: rank 0 says EADDRINUSE and ends; the others may wait for it until their timeout.

Fix: end the process that holds it, often a rank of an earlier run, or choose another port.
"""

from __future__ import annotations

from typing import NamedTuple

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import MachineError, PortHolder
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.static.launch_files.launch_line import port, read_launch_line

CODE = "P201"
NAME = "port-free"
STAGE = Stage.LAUNCH
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding where the wanted port is no port, or somebody listens on it."""
    wanted = _wanted(machine, config)
    try:
        if wanted is None:
            return ProbeResult(title=f"no port configured; {machine.network.free_port()} is free and would be taken")
        if not wanted.value.isdigit() or not 0 < int(wanted.value) < 65536:
            return ProbeResult(title="", findings=(_nonsense(wanted),))
        number = int(wanted.value)
        if machine.network.is_free(number):
            return ProbeResult(title=f"port {number} is free", measured={"port": number})
        finding = _taken(number, wanted, machine.network.port_holder(number), machine.network.free_port())
    except MachineError as error:
        raise Skip(str(error)) from error
    return ProbeResult(title="", findings=(finding,), measured={"port": number})


class WantedPort(NamedTuple):
    """A port that somebody asked for; `change` is how to ask for another, {port} stands for it."""

    value: str
    source: str
    change: str


def _wanted(machine: Machine, config: PreflightConfig) -> WantedPort | None:
    """Returns the port of this run; where the run says nothing of one, a free one serves."""
    if config.job is not None:
        asked, source = config.job.port, str(config.job.config)
        return (
            WantedPort(str(asked), source, "# in the configuration: {port}, or no port") if asked is not None else None
        )
    if config.port is not None:
        return WantedPort(str(config.port), "--port", "--port {port}")
    line = read_launch_line(config.script or ())
    if line.launcher:
        asked_in_line = port(line.launcher)
        change = f"{' '.join(line.launcher)} --master-port {{port}}"
        return WantedPort(asked_in_line, " ".join(line.launcher), change) if asked_in_line is not None else None
    # A preflight inside a rank finds the port of that very run: it is held by its own launcher.
    if "RANK" not in machine.environ and machine.environ.get("MASTER_PORT"):
        return WantedPort(machine.environ["MASTER_PORT"], "MASTER_PORT", "export MASTER_PORT={port}")
    return None


def _taken(number: int, wanted: WantedPort, holder: PortHolder | None, free: int) -> Finding:
    owner = holder.process if holder else None
    if owner is not None:
        who = f"pid {owner.pid} ({owner.command}) of {owner.user}"
        command = f"kill {owner.pid}"
    elif holder is not None:
        who = f"a process of user {holder.user} that may not be seen from here"
        command = f"sudo ss -ltnp 'sport = :{number}'"
    else:
        who = "the kernel: it may be below 1024, or bound and not listening"
        command = f"sudo ss -tanp 'sport = :{number}'"
    return Finding(
        code=CODE,
        name="port-in-use",
        severity=Severity.ERROR,
        title=f"port {number} is held by {who}",
        where=wanted.source,
        evidence=(Evidence(source=f"bind and listen on port {number}", observed="refused", expected="a free port"),),
        fix=Fix(
            text=f"end it, or take a free port such as {free}",
            commands=(command, wanted.change.format(port=free)),
            destructive=owner is not None,
        ),
    )


def _nonsense(wanted: WantedPort) -> Finding:
    return Finding(
        code=CODE,
        name="not-a-port",
        severity=Severity.ERROR,
        title=f"the port is {wanted.value!r}; a port is a number from 1 to 65535",
        where=wanted.source,
        evidence=(Evidence(source=wanted.source, observed=wanted.value, expected="1 to 65535"),),
        fix=Fix(text="leave it out and a free one is taken", commands=("unset MASTER_PORT",)),
    )

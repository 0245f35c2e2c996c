"""The port on which the ranks meet is taken.

What it does: tries to listen on the configured port: --port, the job's own, or MASTER_PORT. Where it is
taken it names the holder's pid, command and user, and a port that is free now. Where none is configured a
free one is taken.

Why it matters: rank 0 says EADDRINUSE and ends; the others may wait for it until their timeout.

Fix: end the process that holds it, often a rank of an earlier run, or choose another port.
"""

from __future__ import annotations

from diagnostics.checks import PreflightConfig, Result, Skip, Stage
from diagnostics.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine import Machine, MachineError
from diagnostics.machine.facts import PortHolder

CODE = "P201"
NAME = "port-free"
STAGE = Stage.LAUNCH
REQUIRES: tuple[str, ...] = ()


def probe(machine: Machine, config: PreflightConfig) -> Result:
    """Returns a finding where the wanted port is no port, or somebody listens on it."""
    wanted, source = _wanted(machine, config)
    try:
        if wanted is None:
            return Result(title=f"no port configured; {machine.network.free_port()} is free and would be taken")
        if not wanted.isdigit() or not 0 < int(wanted) < 65536:
            return Result(title="", findings=(_nonsense(wanted, source),))
        port = int(wanted)
        if machine.network.is_free(port):
            return Result(title=f"port {port} is free", measured={"port": port})
        finding = _taken(port, source, machine.network.port_holder(port), machine.network.free_port())
    except MachineError as error:
        raise Skip(str(error)) from error
    return Result(title="", findings=(finding,), measured={"port": port})


def _wanted(machine: Machine, config: PreflightConfig) -> tuple[str | None, str]:
    if config.port is not None:
        return str(config.port), "--port"
    if config.job is not None and config.job.port is not None:
        return str(config.job.port), str(config.job.config)
    # A preflight inside a rank finds the port of that very run: it is held by its own launcher.
    if "RANK" not in machine.environ and machine.environ.get("MASTER_PORT"):
        return machine.environ["MASTER_PORT"], "MASTER_PORT"
    return None, ""


def _taken(port: int, source: str, holder: PortHolder | None, free: int) -> Finding:
    owner = holder.process if holder else None
    if owner is not None:
        who = f"pid {owner.pid} ({owner.command}) of {owner.user}"
        commands: tuple[str, ...] = (f"kill {owner.pid}",)
    elif holder is not None:
        who = f"a process of user {holder.user} that may not be seen from here"
        commands = (f"sudo ss -ltnp 'sport = :{port}'",)
    else:
        who = "the kernel: it may be below 1024, or bound and not listening"
        commands = (f"sudo ss -tanp 'sport = :{port}'",)
    return Finding(
        code=CODE,
        name="port-in-use",
        severity=Severity.ERROR,
        title=f"port {port} is held by {who}",
        where=source,
        evidence=(Evidence(source=f"bind and listen on port {port}", observed="refused", expected="a free port"),),
        fix=Fix(
            text=f"end it, or take a free port such as {free}",
            commands=(*commands, f"export MASTER_PORT={free}"),
            destructive=owner is not None,
        ),
    )


def _nonsense(wanted: str, source: str) -> Finding:
    return Finding(
        code=CODE,
        name="not-a-port",
        severity=Severity.ERROR,
        title=f"the port is {wanted!r}; a port is a number from 1 to 65535",
        where=source,
        evidence=(Evidence(source=source, observed=wanted, expected="1 to 65535"),),
        fix=Fix(text="leave it out and a free one is taken", commands=("unset MASTER_PORT",)),
    )

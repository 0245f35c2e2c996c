"""The port probe, with fakes and with a port that a real process holds."""

from __future__ import annotations

import getpass
import subprocess
import sys
from pathlib import Path

from fakes import FakeNetwork, fake_machine, preflight_config

from diagnostics.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.facts import PortHolder
from diagnostics.machine.network import TcpNetwork
from diagnostics.machine.processes import SystemProcesses
from diagnostics.probes import port_free

HOLD = "import socket; s = socket.socket(); s.bind(('', 0)); s.listen(); print(s.getsockname()[1], flush=True); input()"


def test_a_free_port_is_silent() -> None:
    result = port_free.probe(fake_machine(), preflight_config(Path(), port=29500))
    assert (result.title, result.findings) == ("port 29500 is free", ())


def test_without_a_port_a_free_one_is_named() -> None:
    result = port_free.probe(fake_machine(), preflight_config(Path()))
    assert (result.title, result.findings) == ("no port configured; 29400 is free and would be taken", ())


def test_a_port_that_is_no_number_is_refused() -> None:
    machine = fake_machine(environ={"MASTER_PORT": "http"})
    [finding] = port_free.probe(machine, preflight_config(Path())).findings
    assert finding.title == "the port is 'http'; a port is a number from 1 to 65535"


def test_the_real_holder_of_a_port_is_named() -> None:
    argv = [sys.executable, "-c", HOLD]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        port = int(holder.stdout.readline())
        network = TcpNetwork(SystemProcesses())
        machine = fake_machine(network=network)
        [finding] = port_free.probe(machine, preflight_config(Path(), port=port)).findings
        process = SystemProcesses().find(holder.pid)
        holder.communicate("\n")
    assert process is not None
    free = finding.fix.text.rsplit(" ", 1)[1] if finding.fix else ""
    assert finding == Finding(
        code="P201",
        name="port-in-use",
        severity=Severity.ERROR,
        title=f"port {port} is held by pid {holder.pid} ({process.command}) of {getpass.getuser()}",
        where="--port",
        evidence=(Evidence(source=f"bind and listen on port {port}", observed="refused", expected="a free port"),),
        fix=Fix(
            text=f"end it, or take a free port such as {free}",
            commands=(f"kill {holder.pid}", f"export MASTER_PORT={free}"),
            destructive=True,
        ),
    )


def test_a_holder_that_may_not_be_seen_is_named_by_its_user() -> None:
    network = FakeNetwork({29500: PortHolder(port=29500, address="0.0.0.0", user="bob")})  # noqa: S104 - an answer
    [finding] = port_free.probe(fake_machine(network=network), preflight_config(Path(), port=29500)).findings
    assert finding.title == "port 29500 is held by a process of user bob that may not be seen from here"

"""The port probe, with fakes and with a port that a real process holds."""

from __future__ import annotations

import getpass
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FailingNetwork, FakeNetwork, fake_machine, preflight_config
from whole_finding import told

from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.machine.facts import PortHolder
from diagnostics.machine.host.network import TcpNetwork
from diagnostics.machine.processes.processes import SystemProcesses
from diagnostics.preflight.probe import PreflightConfig, Skip
from diagnostics.preflight.rendezvous import port_free

HOLD = "import socket; s = socket.socket(); s.bind(('', 0)); s.listen(); print(s.getsockname()[1], flush=True); input()"


def test_a_free_port_is_silent() -> None:
    result = port_free.probe(fake_machine(), preflight_config(Path(), port=29500))
    assert (result.title, result.findings) == ("port 29500 is free", ())


def test_without_a_port_a_free_one_is_named() -> None:
    result = port_free.probe(fake_machine(), preflight_config(Path()))
    assert (result.title, result.findings) == ("no port configured; 29400 is free and would be taken", ())


def test_a_port_that_is_no_number_is_refused() -> None:
    machine = fake_machine(environ={"MASTER_PORT": "http"})
    assert told(port_free.probe(machine, preflight_config(Path())).findings) == (
        """ERROR P201 not-a-port at MASTER_PORT
the port is 'http'; a port is a number from 1 to 65535
saw http by MASTER_PORT, not 1 to 65535
fix: leave it out and a free one is taken
$ unset MASTER_PORT"""
    )


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
            commands=(f"kill {holder.pid}", f"--port {free}"),
            destructive=True,
        ),
    )


def test_a_holder_that_may_not_be_seen_is_named_by_its_user() -> None:
    network = FakeNetwork({29500: PortHolder(port=29500, address="0.0.0.0", user="bob")})  # noqa: S104 - an answer
    assert told(port_free.probe(fake_machine(network=network), preflight_config(Path(), port=29500)).findings) == (
        """ERROR P201 port-in-use at --port
port 29500 is held by a process of user bob that may not be seen from here
saw refused by bind and listen on port 29500, not a free port
fix: end it, or take a free port such as 29400
$ sudo ss -ltnp 'sport = :29500'
$ --port 29400"""
    )


def test_a_machine_that_gives_no_port_skips_the_probe() -> None:
    with pytest.raises(Skip, match=r"^sockets are not permitted$"):
        port_free.probe(fake_machine(network=FailingNetwork()), preflight_config(Path(), port=29500))


def launched(*words: str) -> PreflightConfig:
    return replace(preflight_config(Path()), script=words)


TAKEN = FakeNetwork({port: PortHolder(port=port, address="0.0.0.0", user="bob") for port in (29500, 29533)})  # noqa: S104


@pytest.mark.parametrize(
    "words",
    [
        ("torchrun", "--nproc-per-node", "2", "--master-port", "29533", "train.py"),
        ("torchrun", "--master_port=29533", "train.py"),
        ("torchrun", "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:29533", "train.py"),
        ("accelerate", "launch", "--main_process_port", "29533", "train.py"),
    ],
)
def test_the_port_of_the_users_launch_line_is_the_one_that_is_tried(words: tuple[str, ...]) -> None:
    [finding] = port_free.probe(fake_machine(network=TAKEN), launched(*words)).findings
    launcher = " ".join(words[:-1])
    assert finding == Finding(
        code="P201",
        name="port-in-use",
        severity=Severity.ERROR,
        title="port 29533 is held by a process of user bob that may not be seen from here",
        where=launcher,
        evidence=(Evidence(source="bind and listen on port 29533", observed="refused", expected="a free port"),),
        fix=Fix(
            text="end it, or take a free port such as 29400",
            commands=("sudo ss -ltnp 'sport = :29533'", f"{launcher} --master-port 29400"),
        ),
    )


def test_torchrun_without_a_port_listens_on_29500() -> None:
    [finding] = port_free.probe(fake_machine(network=TAKEN), launched("torchrun", "train.py")).findings
    assert finding.title == "port 29500 is held by a process of user bob that may not be seen from here"


@pytest.mark.parametrize("option", [("--standalone",), ("--rdzv-endpoint", "localhost:0"), ("--master-port", "0")])
def test_a_launcher_that_takes_a_free_port_is_left_alone(option: tuple[str, ...]) -> None:
    assert port_free.probe(fake_machine(network=TAKEN), launched("torchrun", *option, "train.py")).findings == ()


def test_a_job_that_takes_a_free_port_does_not_care_about_master_port() -> None:
    machine = fake_machine(network=TAKEN, environ={"MASTER_PORT": "29500"})
    job = JobDescription(module="ups.doctor_job", config=Path("/c.yaml"))
    assert port_free.probe(machine, replace(preflight_config(Path()), job=job)).findings == ()

"""The launcher does not start the ranks, or variables do not arrive in them.

What it does: runs the job's launcher with a tiny program in place of the training script. RANK, LOCAL_RANK,
WORLD_SIZE, MASTER_ADDR and MASTER_PORT must arrive in every rank, and the job's own variables in every rank
and in the subprocesses of ranks. With `--script` the launcher and its options are the user's own.

Why it matters: a variable that is set in one shell, or a launch inside another launch, starts ranks that
wait for peers that will never come.

Fix: what the launcher says; `export NAME=value` before it; start preflight outside of any launcher.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.core.own_folders import CHILDREN
from diagnostics.core.shell_quoting import pasteable
from diagnostics.machine.contract import Machine
from diagnostics.machine.execution.bounded_output import last_lines
from diagnostics.machine.facts import ChildResult, ChildTimeout, MachineError
from diagnostics.preflight.probe import PreflightConfig, ProbeResult, Skip, Stage
from diagnostics.static.launch_files.launch_line import nodes, read_launch_line

CODE = "P202"
NAME = "torchrun-spawns-ranks"
STAGE = Stage.LAUNCH
REQUIRES = ("P109", "P110")
ECHO = CHILDREN / "environment_echo.py"
MARKER = "UPS_DOCTOR_MARKER"
GIVEN = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
# As torch's sockets and Python's name resolution say it.
_UNKNOWN_NAME = re.compile(
    r"addresses of \((\S{1,250}), \d{1,5}\) cannot be retrieved"
    r"|(?:could not|cannot) resolve (?:host ?name )?['\"]?([\w.-]{1,250})"
)
# Of a launcher around this preflight: a launcher inside would believe it is a rank.
INHERITED = (*GIVEN, "LOCAL_WORLD_SIZE", "GROUP_RANK", "ROLE_RANK", "TORCHELASTIC_RUN_ID")


def probe(machine: Machine, config: PreflightConfig) -> ProbeResult:
    """Returns a finding for each variable that is missing, and where the launcher itself fails."""
    nested = [_nested(machine.environ)] if "RANK" in machine.environ else []
    own = {**(config.job.env if config.job else {}), MARKER: "arrived"}
    with tempfile.TemporaryDirectory(prefix="ups-doctor-launch-") as folder:
        argv = [*_launcher(machine, config), str(ECHO), folder, *own]
        threads = machine.environ.get("OMP_NUM_THREADS", "1")
        # torchrun makes a folder for logs in the temporary one, and never removes it.
        env = {**dict.fromkeys(INHERITED), "OMP_NUM_THREADS": threads, "TMPDIR": folder, **own}
        try:
            child = machine.child.run(argv, deadline_s=config.thresholds.rendezvous_deadline_s, env=env)
        except MachineError as error:
            return ProbeResult(title="", findings=(*nested, _not_started(argv, str(error))))
        except ChildTimeout as late:
            unknown = _UNKNOWN_NAME.search(str(late))
            if unknown is None:
                raise
            return ProbeResult(title="", findings=(*nested, _without_address(argv, unknown[1] or unknown[2])))
        answers = [json.loads(path.read_text(encoding="utf-8")) for path in Path(folder).glob("rank-*.json")]
    answers.sort(key=lambda answer: int(answer["rank"]["launcher"]["RANK"] or 0))
    if child.returncode or not answers:
        return ProbeResult(title="", findings=(*nested, _failed(child)))
    findings = [*nested, *_missing(answers, own, child.argv)]
    title = f"{len(answers)} ranks started; their variables arrived, in subprocesses too"
    return ProbeResult(
        title=title, findings=tuple(findings), measured={"ranks": len(answers), "seconds": child.seconds}
    )


def _launcher(machine: Machine, config: PreflightConfig) -> tuple[str, ...]:
    if config.script:
        line = read_launch_line(config.script)
        if nodes(line.launcher) not in ("1", "1:1"):
            raise Skip(f"the launch line wants {nodes(line.launcher)} nodes; one node alone would wait for the others")
        if line.launcher:
            return line.launcher
    port = config.port
    if port is None or not machine.network.is_free(port):
        port = machine.network.free_port()
    options = (f"--nproc-per-node={config.nproc}", "--master-addr=127.0.0.1", f"--master-port={port}")
    return (config.python, "-m", "torch.distributed.run", *options)


def _missing(answers: Sequence[Mapping[str, Any]], own: Mapping[str, str], argv: Sequence[str]) -> list[Finding]:
    found: list[Finding] = []
    ranks = [answer["rank"]["launcher"]["RANK"] for answer in answers]
    if ranks != [str(rank) for rank in range(len(answers))]:
        found.append(_not_arrived("RANK", "the ranks", f"{ranks}", f"0 to {len(answers) - 1}, each once", argv))
    for rank, answer in enumerate(answers):
        for place, seen in ((f"rank {rank}", answer["rank"]), (f"a subprocess of rank {rank}", answer["child"])):
            absent = [name for name in GIVEN if not seen["launcher"][name]]
            found += [_not_arrived(name, place, "not set", "set by the launcher", argv) for name in absent]
            if seen["launcher"]["WORLD_SIZE"] not in (None, str(len(answers))):
                size = seen["launcher"]["WORLD_SIZE"]
                found.append(_not_arrived("WORLD_SIZE", place, size, str(len(answers)), argv))
            for name, value in own.items():
                if seen["digests"].get(name) != hashlib.sha256(value.encode()).hexdigest():
                    state = "another value" if name in seen["digests"] else "not set"
                    found.append(_not_arrived(name, place, state, "the value of the parent", argv))
    return found


def _not_arrived(name: str, place: str, observed: str, expected: str, argv: Sequence[str]) -> Finding:
    return Finding(
        code=CODE,
        name="env-not-propagated",
        severity=Severity.ERROR,
        title=f"{name} in {place} is {observed}, expected {expected}",
        where=f"{name} in {place}",
        evidence=(Evidence(source=" ".join(argv), observed=observed, expected=expected),),
        fix=Fix(text="set it where the launcher starts", commands=(f"export {name}=VALUE",)),
    )


def _failed(child: ChildResult) -> Finding:
    return Finding(
        code=CODE,
        name="launcher-failed",
        severity=Severity.ERROR,
        title=f"the launcher ended with {child.returncode}: {last_lines(child.stderr, 1) or 'it said nothing'}",
        where=" ".join(child.argv[:3]),
        evidence=(Evidence(source=" ".join(child.argv), observed=last_lines(child.stderr, 8), expected="exit code 0"),),
        fix=Fix(text="correct the launcher's options", commands=(_help(child.argv),)),
    )


def _help(argv: Sequence[str]) -> str:
    """Returns what prints the launcher's options: torchrun, accelerate launch, python -m torch.distributed.run."""
    words = {"-m": 3, "launch": 2}.get(argv[1], 1)
    return " ".join((*argv[:words], "--help"))


def _not_started(argv: Sequence[str], reason: str) -> Finding:
    return Finding(
        code=CODE,
        name="launcher-missing",
        severity=Severity.ERROR,
        title=f"the launcher does not start: {reason}",
        where=argv[0],
        evidence=(Evidence(source=" ".join(argv), observed=reason, expected="ranks"),),
        fix=Fix(text="check its spelling and PATH", commands=(f"command -v {argv[0]}",)),
    )


def _without_address(argv: Sequence[str], host: str) -> Finding:
    return Finding(
        code=CODE,
        name="master-name-unknown",
        severity=Severity.ERROR,
        title=f"{host}, at which the ranks are to meet, is no name that this machine can resolve: they wait for it "
        "until their time is up",
        where=host,
        evidence=(Evidence(source=" ".join(argv), observed=f"no address of {host}", expected="an address"),),
        fix=Fix(
            text="name this machine, or 127.0.0.1; --standalone where all ranks run on one",
            commands=(f"getent hosts {pasteable(host)}",),
        ),
    )


def _nested(environ: Mapping[str, str]) -> Finding:
    return Finding(
        code=CODE,
        name="nested-launch",
        severity=Severity.WARNING,
        title=f"preflight runs inside a launcher: RANK is {environ['RANK']} already; it was taken out for the probes",
        where="RANK",
        evidence=(Evidence(source="echo $RANK", observed=environ["RANK"], expected="not set"),),
        fix=Fix(text="start preflight before the launcher", commands=("unset RANK LOCAL_RANK WORLD_SIZE",)),
    )

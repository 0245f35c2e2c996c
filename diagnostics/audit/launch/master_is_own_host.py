"""Ranks on several machines are told to meet at the machine on which each of them is.

What it does: flags launch lines of several machines whose master address is localhost, 127.0.0.1, or `$(hostname)`
worked out on each machine anew (in the text that `srun bash -c '...'` runs).

Why it matters: each machine waits for the others at its own address, where nobody else comes; all end with the
rendezvous timeout, half an hour later.

Bad:

    #SBATCH --nodes=4
    srun torchrun --nnodes 4 --rdzv_backend c10d --rdzv_endpoint localhost:29500 train.py

Good:

    head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    srun torchrun --nnodes 4 --rdzv_backend c10d --rdzv_endpoint "$head:29500" train.py

What it cannot see: an /etc/hosts that gives the name another meaning, and machines that are started by something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.node_counts import machines_of
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A616"
NAME = "master-is-own-host"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.MAKEFILE})
CHECKLIST = "ranks of several machines meet at one address"
_LOCAL = re.compile(r"^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)")
_OWN_NAME = re.compile(r"^[\"']?(?:\$\(hostname(?: -[a-zA-Z])?\)|`hostname(?: -[a-zA-Z])?`|\$\{?HOSTNAME\b)")
_LAUNCHERS = ("torchrun", "launch", "accelerate")
_OF_NODE = frozenset(["SLURM_NODEID", "SLURM_PROCID"])  # another one on each machine, where a task runs on each
_ADDRESSES = ("--master-addr", "--rdzv-endpoint", "--main-process-ip")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the launches of several machines that meet nowhere."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            for launch in launcher_calls(ran.words):
                if launch.kind in _LAUNCHERS:
                    yield from _launched(file, script, ran, launch)
                    yield from _on_each(file, script, ran, launch, project)


def _on_each(
    file: ProjectFile, script: Script, ran: CommandContext, launch: Launch, project: Project
) -> Iterator[Violation]:
    """Yields the launch of a script that Slurm runs once on each machine, where each names itself."""
    address = launch.option(*_ADDRESSES) or str(ran.environment.get("MASTER_ADDR") or "")
    if script.header("nodes") is not None or ran.outer is not None or not (
        _OWN_NAME.match(address) or _LOCAL.match(address)
    ):  # fmt: skip
        return
    count = next(_machines_that_run(file, project), None)
    by_node = launch.option("--node-rank", "--machine-rank").strip("\"'").strip("${}") in _OF_NODE
    joined = launch.option("--nnodes", "--num-machines").strip("\"'")
    if (count is None and not by_node) or joined in ("", "1", "1:1"):
        return  # a job of its own on each machine
    words = (at for at, one in enumerate(ran.words) if one.replace("_", "-").startswith(_ADDRESSES))
    line, column = place(file, ran, next(words, launch.at))
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"this runs on each of {count or 'the'} machines, and each takes itself for the master: none of them "
        "finds another one",
        fix="name one machine for all in the script that starts srun: "
        'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
        confidence=Confidence.LIKELY,
    )


def _machines_that_run(file: ProjectFile, project: Project) -> Iterator[int]:
    """Yields on how many machines the Slurm scripts of the project run a script by `srun`, where these are several."""
    own = file.shown.rpartition("/")[2]
    for other in project.audited:
        for script in embedded_scripts(other) if other.kind in READS and other is not file else ():
            for ran in script.commands:
                for launch in launcher_calls(ran.words):
                    if launch.kind != "srun" or not any(one.rpartition("/")[2] == own for one in ran.words):
                        continue
                    asked = script.header("nodes")
                    said = launch.option("-N", "--nodes") or (asked.value if asked is not None else "")
                    if said.isdigit() and int(said) > 1:
                        yield int(said)


def _launched(file: ProjectFile, script: Script, ran: CommandContext, launch: Launch) -> Iterator[Violation]:
    count = machines_of(script, launch)
    address = launch.option(*_ADDRESSES)
    if not address and launch.kind != "torchrun":
        address = str(ran.environment.get("MASTER_ADDR") or "")
    if count is None or count < 2 or not address:
        return
    outer = ran.outer.words if ran.outer is not None else ()
    everywhere = any(one.kind == "srun" for one in launcher_calls(outer))
    # Worked out by the batch script's shell, it is the name of the first machine, for all.
    own_name = everywhere and _OWN_NAME.match(address) is not None and "hostname" in " ".join(outer).lower()
    by_slurm = everywhere or script.header("nodes") is not None
    if not (_LOCAL.match(address) or own_name) or not (by_slurm or _is_alone(script)):
        return
    line, column = place(file, ran, launch.at)
    told = "its own name" if own_name else f"{address.partition(':')[0]}, itself"
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"{count} machines are to meet at one address, and each takes {told}: none of them finds another one",
        fix='name one machine for all: head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
        confidence=Confidence.CONFIRMED if by_slurm else Confidence.LIKELY,
    )


def _is_alone(script: Script) -> bool:
    """Whether a script starts one launcher: where it starts several, one machine may play them for a test."""
    return sum(one.kind in _LAUNCHERS for ran in script.commands for one in launcher_calls(ran.words)) == 1

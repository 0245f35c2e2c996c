"""Ranks on several machines are told to meet at the machine on which each of them is.

What it does: flags launch lines of several machines whose master address is localhost, 127.0.0.1, or `$(hostname)`
worked out on each machine anew (in the text that `srun bash -c '...'` runs); and Python that Slurm runs on each of
several machines and that sets MASTER_ADDR to localhost or to its own name.

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

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.node_counts import NodeCounts, machines_of
from diagnostics.static.launch_files.rank_environment import environment_writes
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A616"
NAME = "master-is-own-host"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.MAKEFILE, FileKind.PYTHON})
CHECKLIST = "ranks of several machines meet at one address"
_LOCAL = re.compile(r"^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)")
_OWN_NAME = re.compile(r"^[\"']?(?:\$\(hostname(?: -[a-zA-Z])?\)|`hostname(?: -[a-zA-Z])?`|\$\{?HOSTNAME\b)")
_LAUNCHERS = ("torchrun", "launch", "accelerate")
_OF_NODE = frozenset(["SLURM_NODEID", "SLURM_PROCID"])  # another one on each machine, where a task runs on each
_OVER_ALL = frozenset(["SLURM_PROCID", "SLURM_NTASKS", "SLURM_NPROCS"])
_OWN_NAMES = frozenset(["socket.gethostname", "socket.getfqdn", "platform.node"])
_ADDRESSES = ("--master-addr", "--rdzv-endpoint", "--main-process-ip")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the launches of several machines that meet nowhere."""
    if file.kind is FileKind.PYTHON:
        yield from _set_in_python(file, project)
        return
    for script in embedded_scripts(file):
        for ran in script.commands:
            for launch in launcher_calls(ran.words):
                if launch.kind in _LAUNCHERS:
                    yield from _launched(file, script, ran, launch)
                    yield from _on_each(file, script, ran, launch, project)


def _set_in_python(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the own name that each task of a job of several machines takes for the master's."""
    if "MASTER_ADDR" not in file.words or file.is_test:
        return
    nodes = project.fact(NodeCounts)
    for function in project.functions_in(file):
        writes = list(environment_writes(function))
        ranks = [one for one in writes if one.name in ("RANK", "WORLD_SIZE") and _is_of_slurm(one.value, function)]
        for one in writes if ranks else ():
            host = _own_host(one.value, function, project) if one.name == "MASTER_ADDR" else ""
            if not host or next(conditions(one.node, function, file), None) is not None:
                continue  # under a test: of one machine, or of a variable that is set already
            several = nodes.submitted() or nodes.place()
            steps = [step(file, ranks[0].node, "ranks are counted over all machines")]
            if several is not None:
                asked = ast.Pass(lineno=several[1], col_offset=0)
                steps.append(step(several[0], asked, "several machines are asked for"))
            yield violation(
                file,
                one.node,
                f"each task takes {host} for the master: those on the second machine wait at an address where no rank "
                "0 listens",
                "the name of the first machine, for all: job.hostnames[0] of submitit.JobEnvironment(), or "
                "scontrol show hostnames",
                steps=tuple(steps),
                confidence=Confidence.LIKELY if several else Confidence.POSSIBLE,
            )


def _is_of_slurm(value: ast.expr, function: Function) -> bool:
    """Whether a number is one that Slurm gives over all machines, by its variables or by submitit."""
    values = [value, *(one for node in walk(value) if isinstance(node, ast.Name)
                       for one in function.assigned.get(node.id, ()))]  # fmt: skip
    nodes = [node for one in values for node in walk(one)]
    return any(
        (isinstance(node, ast.Constant) and node.value in _OVER_ALL)
        or (isinstance(node, ast.Attribute) and node.attr in ("global_rank", "num_tasks"))
        for node in nodes
    )


def _own_host(value: ast.expr, function: Function, project: Project) -> str:
    """Returns how a value names the machine that it is worked out on, "" where it names another one or none."""
    for made, where in origins(value, function, project):
        if isinstance(made, ast.Constant) and made.value in ("localhost", "127.0.0.1"):
            return f"{made.value}, itself,"
        if isinstance(made, ast.Call) and project.name(made.func, where) in _OWN_NAMES:
            return "its own name"
    return ""


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
    if not by_slurm and launch.option("--node-rank", "--machine-rank") == "0":
        return  # the script of the first machine, which is the one where rank 0 listens
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

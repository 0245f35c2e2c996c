"""The ranks are told to meet at the host from which the job was submitted.

What it does: flags launch lines, MASTER_ADDR and `init_method` whose address is the variable in which a scheduler tells
the host of the submission: SLURM_SUBMIT_HOST, PBS_O_HOST, LSB_SUB_HOST, SGE_O_HOST.

Why it matters: that is the login node, on which no rank runs. Every rank waits there for rank 0 until the rendezvous
times out, also in a job of one machine.

Bad:

    export MASTER_ADDR=$SLURM_SUBMIT_HOST
    srun python train.py

Good:

    export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
    srun python train.py

What it cannot see: jobs that are submitted from the very machine on which they then run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.launch_files.rank_environment import environ_key, environment_writes, is_environ
from diagnostics.static.launch_files.shell_commands import DECLARING, CommandContext
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A522"
NAME = "master-is-submit-host"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.MAKEFILE, FileKind.PYTHON})
CHECKLIST = "ranks meet at a machine of their job"
_HOSTS = frozenset(["SLURM_SUBMIT_HOST", "PBS_O_HOST", "LSB_SUB_HOST", "SGE_O_HOST"])
WORDS = tuple(_HOSTS)
# By itself, or where a variable is not set: ${MASTER_ADDR:-$SLURM_SUBMIT_HOST}
_ADDRESS = re.compile(rf"^(?:tcp://)?[\"']?(?:\$\{{\w{{1,60}}:?-)?\$\{{?({'|'.join(sorted(_HOSTS))})\b")
_INIT = "torch.distributed.init_process_group"
_OPTIONS = ("--master-addr", "--rdzv-endpoint", "--main-process-ip")
_FIX = 'the first machine of the job: $(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the addresses at which no rank listens."""
    if file.kind is FileKind.PYTHON:
        yield from _in_python(file, project) if not file.is_test else ()
        return
    for script in embedded_scripts(file):
        told: set[int] = set()
        for ran in script.commands:
            for one in _launched(file, script, ran):
                if one.line not in told:
                    told.add(one.line)
                    yield one


def _launched(file: ProjectFile, script: Script, ran: CommandContext) -> Iterator[Violation]:
    """Yields where a command that starts ranks, or one of them, takes its address from."""
    for launch in launcher_calls(ran.words):
        option = launch.option(*_OPTIONS)
        address = option or str(ran.environment.get("MASTER_ADDR") or "")
        found = _ADDRESS.match(address)
        if found is None:
            continue
        line, column = _set_at(found[1], file, script, ran) or place(file, ran, launch.at)
        here, _ = place(file, ran, launch.at)
        steps = (ExplanationStep(place=file.place(here), text=f"{launch.kind} starts ranks that meet there"),)
        yield Violation(
            file=file,
            line=line,
            column=column,
            title=_title(found[1]),
            fix=_FIX,
            steps=steps if here != line else (),
            confidence=Confidence.LIKELY,
        )


def _set_at(host: str, file: ProjectFile, script: Script, ran: CommandContext) -> tuple[int, int] | None:
    """Returns where a script last gives the host a name of its own up to a command, None where it does not."""
    found = None
    for one in script.commands:
        words = one.command.words
        declared = words if words and words[0].text in DECLARING else ()
        for token in (*one.command.assignments, *declared):
            if re.search(rf"=.{{0,80}}\$\{{?{host}\b", token.text):
                found = token.line, max(file.line(token.line).find(token.text.partition("=")[0]) + 1, 1)
        if one is ran:
            break
    return found


def _title(host: str) -> str:
    return f"the ranks are to meet at {host}, where the job was submitted: none of them runs there, and all wait"


def _in_python(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for function in project.functions_in(file):
        given = [(one.value, one.node) for one in environment_writes(function) if one.name == "MASTER_ADDR"]
        for call in function.nodes_of(ast.Call):
            if isinstance(call, ast.Call):
                given += [(value, call) for value in _addresses(call, function, project)]
        for value, node in given:
            host = _host(value, function, project)
            if host:
                yield violation(file, node, _title(host), _FIX, confidence=Confidence.LIKELY)


def _addresses(call: ast.Call, function: Function, project: Project) -> Iterator[ast.expr]:
    """Yields what a call gives as the address: `init_method=`, `os.environ.setdefault("MASTER_ADDR", ...)`."""
    if project.name(call.func, function) == _INIT:
        yield from call.args[1:2]
        yield from (one.value for one in call.keywords if one.arg == "init_method")
    match call:
        case ast.Call(
            func=ast.Attribute(value=held, attr="setdefault"), args=[ast.Constant(value="MASTER_ADDR"), value]
        ):
            yield from (value,) if is_environ(held) else ()


def _host(value: ast.expr, function: Function, project: Project) -> str:
    """Returns the variable of the submission's host that a text is, or begins with, "" without one."""
    for made, where in origins(value, function, project):
        parts = [one.value for one in made.values if isinstance(one, ast.FormattedValue)][:1] if isinstance(
            made, ast.JoinedStr) else [made]  # fmt: skip
        for part in parts:
            for one, _ in origins(part, where, project):
                name = next(filter(None, map(_variable, walk(one))), "")
                if name in _HOSTS:
                    return name
    return ""


def _variable(node: ast.AST) -> str:
    """Returns the first variable that an expression asks the environment for, "" where it asks for none."""
    asks = isinstance(node, ast.Call) and (
        last_name(node.func) == "getenv" or (isinstance(node.func, ast.Attribute) and is_environ(node.func.value))
    )
    if asks and isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        return str(node.args[0].value)
    return environ_key(node)

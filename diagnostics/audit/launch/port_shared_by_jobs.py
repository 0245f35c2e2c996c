"""Jobs that run at once on one machine, and whose ranks are to meet at one port.

What it does: flags `torchrun`, `torch.distributed.launch` and `accelerate launch` in the background of a shell script,
in a loop or one after the other with no `wait` between, where the port is one for all of them: written out, a variable
that the loop does not set, or not given at all, which is 29500.

Why it matters: the first one binds the port. Each other one ends with "address already in use", or its ranks join the
first one's rendezvous and train with the wrong neighbours.

Bad:

    for lr in 1e-4 1e-3; do
      torchrun --nproc-per-node 2 --master-port "$PORT" fit.py --lr $lr &
    done
    wait

Good:

    for lr in 1e-4 1e-3; do
      torchrun --standalone --nproc-per-node 2 fit.py --lr $lr &
    done
    wait

What it cannot see: machines that a wrapper around the launcher goes to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.background_jobs import Jobs
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_parser import Compound
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A617"
NAME = "port-shared-by-jobs"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.SHELL, FileKind.YAML})
CHECKLIST = "jobs that run at once meet at ports of their own"
_KINDS = ("torchrun", "launch", "accelerate")
_PORTS = ("--master-port", "--main-process-port")
# What finds its own port, or meets elsewhere.
_OTHERWISE = ("--standalone", "--rdzv-backend", "--rdzv-endpoint", "--node-rank", "--machine-rank", "--config-file")
_ELSEWHERE = frozenset(
    ["ssh", "pdsh", "srun", "docker", "podman", "kubectl", "singularity", "apptainer", "mpirun", "sbatch"]
)
_LOOPS = ("for", "while", "until")
_DEFAULT = "29500"
_NAMES = re.compile(r"[A-Za-z_]\w*")
_OWN = re.compile(r"RANDOM|\$\{?[0-9@*]|\$\((?!\()|`|\$\$|\$\{?BASHPID")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the launches that take a port which another one holds."""
    for script in embedded_scripts(file):
        jobs = Jobs(script.commands)
        before: dict[str, tuple[CommandContext, int]] = {}
        for ran in script.commands:
            if ran.words[:1] == ("wait",):
                before.clear()
            launch = next((one for one in launcher_calls(ran.words) if one.kind in _KINDS), None)
            if launch is None or not _is_here(ran, launch) or not jobs.is_job(ran):
                continue
            port = _port(ran, launch)
            if port is None:
                continue
            line, column = place(file, ran, launch.at)
            if _is_started_again(ran, port, script):
                yield _hit(file, line, column, launch, port, "each round of the loop starts one", ())
            elif port in before and before[port][0].and_or is not ran.and_or and not _excludes(before[port][0], ran):
                other = ExplanationStep(place=file.place(before[port][1]), text="and so is this one, which runs still")
                yield _hit(file, line, column, launch, port, "another one was started before", (other,))
            before.setdefault(port, (ran, line))


def _is_here(ran: CommandContext, launch: Launch) -> bool:
    """Whether it starts one machine's ranks, on this one, by a port that it is told or 29500."""
    known = not any(name in launch.options for name in _OTHERWISE)
    return known and launch.machines == 1 and _ELSEWHERE.isdisjoint(ran.words[: launch.at + 1]) and not ran.substituted


def _port(ran: CommandContext, launch: Launch) -> str | None:
    """Returns the port as it is written, None where it is one of each command's own."""
    for index, word in enumerate(ran.words[launch.at :], launch.at):
        name, equals, _ = word.partition("=")
        if "--" + name[2:].replace("_", "-") in _PORTS:
            at = index if equals else index + 1
            written = ran.tokens[at].text.partition("=")[2] if equals else ran.tokens[at].text if at < len(
                ran.tokens) else ""  # fmt: skip
            written = written.strip("\"'")
            return None if written in ("", "0") or _OWN.search(written) else written
    return _DEFAULT if launch.kind != "accelerate" else None


def _is_started_again(ran: CommandContext, port: str, script: Script) -> bool:
    """Whether a loop starts it again, with the same port, before it has ended."""
    for loop in _loops(ran):
        inside = [one for one in script.commands if any(around is loop for around in one.around)]
        waits = any(one.words[:1] in (("wait",), ("fg",)) for one in inside)
        set_here = {name for one in inside for name in _sets(one)} | {token.text for token in loop.header[:1]}
        if not waits and loop.kind in _LOOPS and _is_background_in(ran, loop) and set_here.isdisjoint(
            _NAMES.findall(port)
        ):  # fmt: skip
            return True
    return False


def _loops(ran: CommandContext) -> list[Compound]:
    return [one for one in ran.around if one.kind in _LOOPS and not _leaves(one, ran)]


def _leaves(loop: Compound, ran: CommandContext) -> bool:
    """Whether a loop is over one thing, or is left behind the command."""
    words = [token.text for token in loop.header]
    return "in" in words and len(words) == words.index("in") + 2 and "$" not in words[-1] and "{" not in words[-1]


def _is_background_in(ran: CommandContext, loop: Compound) -> bool:
    """Whether the command itself goes on beside the loop, not the loop as a whole."""
    depth = next(at for at, one in enumerate(ran.around) if one is loop)
    return any(block.statements[block.index].background for block in ran.blocks[depth + 1 :])


def _sets(ran: CommandContext) -> Iterator[str]:
    yield from ran.assigned
    if ran.words[:1] in (("read",), ("export",), ("let",), ("local",), ("declare",), ("((",)):
        for word in ran.words[1:]:
            yield from _NAMES.findall(word)[:1]
    for token in ran.command.words:
        if token.text.startswith("((") or "++" in token.text or "+=" in token.text:
            yield from _NAMES.findall(token.text)


def _excludes(one: CommandContext, other: CommandContext) -> bool:
    """Whether two commands stand in ways of one test."""
    tests = [around for around in one.around if around.kind in ("if", "case")]
    return any(around is test for around in other.around for test in tests) or any(
        around.kind == "function" for around in (*one.around, *other.around)
    )


def _hit(
    file: ProjectFile, line: int, column: int, launch: Launch, port: str, why: str, steps: tuple[ExplanationStep, ...]
) -> Violation:
    return Violation(
        file=file,
        line=line,
        column=column,
        title=f"this {launch.kind} runs beside others and meets at port {port} as they do: {why}",
        fix="torchrun --standalone takes a free port for each job; or count it: --master-port $((29500 + i))",
        steps=steps,
        confidence=Confidence.LIKELY,
    )

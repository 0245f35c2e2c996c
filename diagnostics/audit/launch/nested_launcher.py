"""A launcher starts ranks that start ranks themselves.

What it does: flags torchrun (accelerate, deepspeed) in front of a script of the project that calls mp.spawn() with
ranks of its own, or starts another launcher, and srun or mpirun that starts several torchruns on one machine.

Why it matters: with two by two there are four programs that each think they are rank 0 or 1 of 2: ports collide, each
GPU gets two processes, or the groups wait for members that never come.

Bad:

    torchrun --nproc-per-node 2 main.py      # main.py: mp.spawn(worker, nprocs=2)
    srun --ntasks-per-node 4 torchrun --nproc-per-node 4 train.py

Good:

    python main.py
    srun --ntasks-per-node 1 torchrun --nproc-per-node 4 train.py

What it cannot see: scripts that are not part of the audited paths, launch lines typed by hand, and what a program
decides from its environment: a spawn() behind a condition is only possibly nested.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.rank_environment import starts_ranks
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A602"
NAME = "nested-launcher"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE})
CHECKLIST = "one launcher starts the ranks"
_ELASTIC = ("torchrun", "launch", "accelerate", "deepspeed")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the launch lines of a file that start ranks which start ranks."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            layers = launcher_calls(ran.words)
            if layers:
                yield from _two_launchers(file, script, ran, layers)
                yield from _spawning(file, project, ran, layers)


def _two_launchers(
    file: ProjectFile, script: Script, ran: CommandContext, layers: tuple[Launch, ...]
) -> Iterator[Violation]:
    for outer, inner in pairwise(layers):
        if inner.kind not in _ELASTIC:
            continue
        started, confidence = _started(outer, script)
        if started is None or started < 2 or (inner.ranks_here or 2) < 2:
            continue
        line, column = place(file, ran, outer.at)
        yield Violation(
            file=file,
            line=line,
            column=column,
            title=f"{outer.kind} starts {started} of {inner.kind} on one machine, and each of these starts "
            f"{inner.ranks_here or 'several'} ranks",
            fix=f"one {inner.kind} a machine: srun --ntasks-per-node 1"
            if outer.kind == "srun"
            else f"{inner.kind} alone",
            confidence=confidence,
        )


def _started(outer: Launch, script: Script) -> tuple[int | None, Confidence]:
    """Returns how many copies of its program a launcher starts on one machine."""
    if outer.kind in _ELASTIC:
        return outer.ranks_here, Confidence.CONFIRMED
    if outer.kind in ("mpirun", "mpiexec"):
        spread = any(name in outer.options for name in ("--host", "-host", "-H", "--hostfile", "-hostfile", "--map-by"))
        spread = spread or any(
            name in outer.options for name in ("-ppn", "--ppn", "-npernode", "--npernode", "-N", "-f")
        )
        return (None if spread else outer.ranks_here), Confidence.LIKELY
    if outer.kind != "srun":
        return None, Confidence.POSSIBLE
    here = outer.option("--ntasks-per-node")
    if here.isdigit():
        return int(here), Confidence.CONFIRMED
    tasks = outer.option("-n", "--ntasks")
    if tasks.isdigit():
        head = script.header("nodes")
        nodes = outer.option("-N", "--nodes") or (head.value if head else "1")
        return (int(tasks) // max(int(nodes), 1) if nodes.isdigit() else None), Confidence.CONFIRMED
    header = script.header("ntasks-per-node")
    if header is not None and header.value.isdigit():
        return int(header.value), Confidence.CONFIRMED
    return None, Confidence.POSSIBLE


def _spawning(
    file: ProjectFile, project: Project, ran: CommandContext, layers: tuple[Launch, ...]
) -> Iterator[Violation]:
    last = layers[-1]
    outer = next((one for one in reversed(layers) if one.kind in _ELASTIC), None)
    program = script_file(last, file, project)
    if outer is None or program is None or (outer.ranks_here or 2) < 2:
        return
    use = next(iter(sorted(starts_ranks(program, project), key=lambda one: not one.sure)), None)
    if use is None:
        return
    line, column = place(file, ran, outer.at)
    there = use.file.place(getattr(use.node, "lineno", 1))
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"{outer.kind} starts {outer.ranks_here or 'several'} times {last.script}, and {use.what} ({there})",
        fix=f"python {last.script}, or take the launch out of {use.file.shown}",
        steps=(
            ExplanationStep(place=file.place(line), text=f"{outer.kind} starts {last.script} as its ranks"),
            ExplanationStep(place=there, text=use.what),
        ),
        confidence=Confidence.CONFIRMED if use.sure else Confidence.POSSIBLE,
    )

"""A script starts with plain python what reads its rank from the environment.

What it does: flags `python train.py` in a launch script where train.py, of the same project, reads RANK, LOCAL_RANK or
WORLD_SIZE without a default or calls init_process_group() without a rank, and nothing in the script sets them.

Why it matters: the program ends with KeyError: 'LOCAL_RANK', or with "environment variable RANK expected, but not set".

Bad:

    python train.py                           # train.py: int(os.environ["LOCAL_RANK"])

Good:

    torchrun --standalone --nproc-per-node 2 train.py

What it cannot see: variables that whoever calls the script sets; where another file of the project starts the script
below a launcher, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.launch_files.rank_environment import needs_launcher
from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A609"
NAME = "launched-without-launcher"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.SHELL, FileKind.YAML, FileKind.DOCKERFILE, FileKind.MAKEFILE})
CHECKLIST = "what reads RANK is started by a launcher"
_RANKS = frozenset(["RANK", "LOCAL_RANK", "WORLD_SIZE"])
# Launchers that tell ranks their numbers, under other names.
_OTHER_NAMES = {"mpirun": "OMPI_COMM_WORLD_RANK or PMI_RANK", "mpiexec": "OMPI_COMM_WORLD_RANK or PMI_RANK"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the commands that start a distributed program without a launcher."""
    for script in embedded_scripts(file):
        for ran in script.commands:
            if not _is_given_ranks(ran):
                found = _alone(file, project, script, ran)
                yield from (one for one in found if not (script.home == "file" and _is_launched(file, project)))


def _alone(file: ProjectFile, project: Project, script: Script, ran: CommandContext) -> Iterator[Violation]:
    layers = launcher_calls(ran.words)
    starters = [one.kind for one in layers[:-1]]
    if not layers or layers[-1].kind != "python" or "env" in ran.words or "ssh" in ran.words:
        return
    if not set(starters) <= _OTHER_NAMES.keys():
        return
    by, what = starters[-1] if starters else "python", _OTHER_NAMES.get(starters[-1] if starters else "", "")
    program = script_file(layers[-1], file, project)
    use = needs_launcher(program, project) if program is not None else None
    if use is None:
        return
    line, column = place(file, ran, layers[-1].at)
    there = use.file.place(getattr(use.node, "lineno", 1))
    yield Violation(
        file=file,
        line=line,
        column=column,
        title=f"{by} starts {layers[-1].script}, which takes its rank from {use.what} ({there}): "
        + (f"{by} sets {what}, and nothing sets that" if what else "nothing sets it"),
        fix=f"torchrun --standalone --nproc-per-node N {layers[-1].script}",
        steps=(
            ExplanationStep(place=file.place(line), text="neither a launcher nor the script sets RANK and LOCAL_RANK"),
            ExplanationStep(place=there, text=f"reads {use.what}, without a default"),
        ),
        confidence=_sureness(use.sure and not (what and "init_process_group" in use.what), script),
    )


def _sureness(sure: bool, script: Script) -> Confidence:
    if not sure:
        return Confidence.POSSIBLE
    return Confidence.CONFIRMED if script.home == "file" and not script.slurm else Confidence.LIKELY


def _is_given_ranks(ran: CommandContext) -> bool:
    known = {*ran.variables, *ran.exported, *ran.assigned}
    return bool(known & _RANKS) or any(word.partition("=")[0] in _RANKS for word in ran.words)


def _is_launched(file: ProjectFile, project: Project) -> bool:
    """Whether another file of the project names this script: it may be started by a launcher."""
    stem, suffix = PurePath(file.shown).stem, PurePath(file.shown).suffix.lstrip(".")
    return any(
        one is not file and stem in one.words and suffix in one.words and f"{stem}.{suffix}" in one.text
        for one in project.audited
    )

"""Rank 0 of a job on several machines puts data into a folder that each machine has for itself.

What it does: runs each script on values that are not known, and flags what the first of all ranks alone downloads,
unpacks or writes below /tmp, /dev/shm or $TMPDIR and every rank then reads, where a launch file starts the script on
several machines.

Why it matters: on the first machine the files are there. On all others nobody makes them: their ranks die with "not
found", or read what an earlier job has left, and the first machine waits for them.

Bad:

    first = int(os.environ["RANK"]) == 0
    data = CIFAR10("/tmp/cifar10", download=first)

Good:

    first = int(os.environ["LOCAL_RANK"]) == 0
    data = CIFAR10("/tmp/cifar10", download=first)

What it cannot see: whether another folder is shared by the machines, and what the machines were prepared with.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import ExplanationStep, Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.loading.node_files import made_on_first_rank
from diagnostics.static.execution.events import Execution
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.node_counts import machines_of
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A185"
NAME = "made-on-one-machine"
SEVERITY = Severity.ERROR
WORDS = ("RANK", "SLURM_PROCID", "get_rank")
CHECKLIST = "what lies on a machine's own disk is made on each machine"
_LAUNCHES = frozenset([FileKind.SHELL, FileKind.YAML, FileKind.MAKEFILE])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the files that one machine has and the others look for."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for launch, source, line in _launches(project).get(execution.script, ()):
        for one in made_on_first_rank(execution, launch.arguments):
            if _is_prepared(one.place, launch, source):
                continue
            steps = [ExplanationStep(place=source.place(line), text="the job runs on several machines")]
            if one.read is not one.made:
                steps.append(shown(one.read, project, "every rank reads it here"))
            yield violation(
                home(one.made, project),
                one.made.node,
                f"{one.place} is a folder that each machine has for itself, and only the first rank of the whole job "
                "makes what lies there: the ranks on the other machines do not find it",
                "let the first rank of each machine make it: LOCAL_RANK == 0; or use a folder that the machines share",
                steps=tuple(steps),
                confidence=Confidence.LIKELY,
            )
            return


def _is_prepared(folder: str, launch: Launch, source: ProjectFile) -> bool:
    """Whether the script that starts the job does something there itself: it may fill it on each machine."""
    begin = "/".join(folder.split("/")[:2])
    return (source.text or "").count(begin) > sum(word.count(begin) for word in launch.arguments)


@per_project
def _launches(project: Project) -> dict[str, list[tuple[Launch, ProjectFile, int]]]:
    """Returns the commands that start a script on several machines, by the script."""
    found: dict[str, list[tuple[Launch, ProjectFile, int]]] = {}
    for file in project.audited:
        if file.kind not in _LAUNCHES:
            continue
        for one in embedded_scripts(file):
            for command in one.commands:
                calls = launcher_calls(command.words)
                program = script_file(calls[-1], file, project) if calls else None
                if program is not None and any((machines_of(one, call) or 1) > 1 for call in calls):
                    found.setdefault(program.shown, []).append((calls[-1], file, place(file, command)[0]))
    return found
